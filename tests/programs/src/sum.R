# SPDX-License-Identifier: GPL-2.0-or-later
# sum.R FOLDER - one thread of R; it begins and ends as wait.h says.
folder <- commandArgs(TRUE)[1]
wait_for <- function(name) {
    for (i in 1:12000) {
        if (file.exists(file.path(folder, name))) break
        Sys.sleep(0.01)
    }
}
cat("begun", Sys.getpid(), "\n")
wait_for("now")
cat("sum", sum(0:99), "\n", sep = " ")
cat("done\n")
wait_for("end")
