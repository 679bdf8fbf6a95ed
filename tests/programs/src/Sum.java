/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Sum FOLDER - two threads of Java that are made late; it begins and ends as wait.h says. */
import java.io.File;

public class Sum {
    static void waitFor(String folder, String name) throws InterruptedException {
        File file = new File(folder, name);
        for (int i = 0; i < 12000 && !file.exists(); i++)
            Thread.sleep(10);
    }

    public static void main(String[] argument) throws InterruptedException {
        int[] sum = new int[2];
        Thread[] thread = new Thread[2];
        System.out.println("begun " + ProcessHandle.current().pid());
        waitFor(argument[0], "now");
        for (int t = 0; t < 2; t++) {
            int first = t;
            thread[t] = new Thread(() -> {
                for (int i = first; i < 100; i += 2)
                    sum[first] += i;
            });
            thread[t].start();
        }
        for (Thread each : thread)
            each.join();
        System.out.println("sum " + (sum[0] + sum[1]));
        System.out.println("done");
        waitFor(argument[0], "end");
    }
}
