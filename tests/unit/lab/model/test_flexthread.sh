#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# test_ctl_model_flexthread - `berthctl model flexthread`: the example of Wang 2015, section 6.6.2, and each thing that can be wrong.
. "${srcdir:-.}/tests/unit/common/ctl_check.sh"

sync='"sync_hz":667,"memory_ns":200,"syscall_ns":2000'
# the paper's 272 and 256; without noise the least sum of both losses
answers "{\"cores\":32,\"cores_min\":8,$sync}" '{"t_min":400,"t_max":272,"threads":256,"imbalance":0.09375,"worst_cores":28,"overhead":0.0469568}' model flexthread
answers "{\"cores\":32,\"cores_min\":8,\"noise\":0,$sync}" '{"t_min":400,"t_max":272,"threads":270,"imbalance":0.07407407407407407,"worst_cores":29,"overhead":0.049891600000000001}' model flexthread
answers '{"cores":4,"imbalance":0}' '{"t_min":12,"t_max":1048576,"threads":12,"imbalance":0.0,"worst_cores":1,"overhead":0.0}' model flexthread
answers '{"cores":3,"threads":4}' '{"t_min":6,"t_max":1048576,"threads":4,"imbalance":0.5,"worst_cores":3,"overhead":0.0}' model flexthread
answers '{"cores":40,"imbalance":0,"sync_hz":1e9,"memory_ns":100}' '{"t_min":null,"t_max":null,"threads":null}' model flexthread

wrong() { # INPUT TEXT
    refuses "$1" 1 "berthctl: model flexthread: $2" model flexthread
}
wrong '{}' 'cores: missing'
wrong '{"cores":0}' 'cores: 0: between 1 and 65536'
wrong '{"cores":1.5}' 'cores: 1.5: a whole number'
wrong '{"cores":"8"}' 'cores:'
wrong '{"cores":4,"cores_min":5}' 'cores_min: 5: at most cores (4)'
wrong '{"cores":4,"imbalance":-1}' 'imbalance: -1:'
wrong '{"cores":4,"overhead":0}' 'overhead: 0:'
wrong '{"cores":4,"sync_hz":NaN}' 'sync_hz:'
wrong '{"cores":4,"memory_ns":1e13}' 'memory_ns:'
wrong '{"cores":4,"syscall_ns":-1}' 'syscall_ns:'
wrong '{"cores":4,"noise":-1}' 'noise: -1:'
wrong '{"cores":4,"threads":0}' 'threads: 0:'

exit $failed
