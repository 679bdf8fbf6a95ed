# SPDX-License-Identifier: GPL-2.0-or-later
# forks.R FOLDER - two processes of R's own that are made late; it begins and ends as wait.h says.
folder <- commandArgs(TRUE)[1]
wait_for <- function(name) {
    for (i in 1:12000) {
        if (file.exists(file.path(folder, name))) break
        Sys.sleep(0.01)
    }
}
cat("begun", Sys.getpid(), "\n")
wait_for("now")
parts <- parallel::mclapply(0:1, function(first) sum(seq(first, 99, 2)), mc.cores = 2)
cat("sum", sum(unlist(parts)), "\n")
cat("done\n")
wait_for("end")
