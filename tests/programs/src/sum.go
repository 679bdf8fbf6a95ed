// SPDX-License-Identifier: GPL-2.0-or-later
// sum FOLDER - two goroutines that begin late; it begins and ends as wait.h says.
package main

import (
	"fmt"
	"os"
	"path/filepath"
	"time"
)

func waitFor(name string) {
	for i := 0; i < 12000; i++ {
		if _, err := os.Stat(filepath.Join(os.Args[1], name)); err == nil {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
}

func main() {
	parts := make(chan int)
	fmt.Println("begun", os.Getpid())
	waitFor("now")
	for first := 0; first < 2; first++ {
		go func(i int) {
			sum := 0
			for ; i < 100; i += 2 {
				sum += i
			}
			parts <- sum
		}(first)
	}
	fmt.Println("sum", <-parts+<-parts)
	fmt.Println("done")
	waitFor("end")
}
