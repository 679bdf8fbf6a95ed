/* SPDX-License-Identifier: GPL-2.0-or-later */
/* linked FOLDER - a program that does nothing by itself: its library, which is binds.c, binds a thread. */
int work(int argc, char **argv);

int main(int argc, char **argv)
{
    return work(argc, argv);
}
