// SPDX-License-Identifier: GPL-2.0-or-later
// binds FOLDER - remembers its CPUs when it begins, and binds a thread to the last of them late; it begins and ends as wait.h says.
package main

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"syscall"
	"time"
	"unsafe"
)

type set [16]uint64

func waitFor(name string) {
	for i := 0; i < 12000; i++ {
		if _, err := os.Stat(filepath.Join(os.Args[1], name)); err == nil {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
}

func last(cpus set) (one set) {
	for cpu := 0; cpu < 1024; cpu++ {
		if cpus[cpu/64]>>(cpu%64)&1 == 1 {
			one = set{}
			one[cpu/64] = 1 << (cpu % 64)
		}
	}
	return
}

func main() {
	var cpus set
	runtime.LockOSThread()
	syscall.RawSyscall(syscall.SYS_SCHED_GETAFFINITY, 0, unsafe.Sizeof(cpus), uintptr(unsafe.Pointer(&cpus)))
	fmt.Println("begun", os.Getpid())
	waitFor("now")
	one := last(cpus)
	_, _, err := syscall.RawSyscall(syscall.SYS_SCHED_SETAFFINITY, 0, unsafe.Sizeof(one), uintptr(unsafe.Pointer(&one)))
	if err != 0 {
		fmt.Println("a thread cannot be bound:", err)
		os.Exit(1)
	}
	fmt.Println("sum", 4900+50)
	fmt.Println("done")
	waitFor("end")
}
