#!/usr/bin/env python3
"""exports.py LIBRARY: the fake libcupti exports what it should, each with its version, and no more."""

import re
import subprocess
import sys

NODE = "libcupti.so.13"
NEEDED = """GetVersion GetResultString GetErrorMessage GetLastError GetTimestamp Subscribe Subscribe_v2
Unsubscribe EnableCallback EnableDomain EnableAllDomains GetCallbackState GetCallbackName
SupportedDomains Finalize SetThreadIdType GetThreadIdType ActivityRegisterCallbacks
ActivityRegisterTimestampCallback ActivityEnable ActivityDisable ActivityEnableContext
ActivityDisableContext ActivityEnableAndDump ActivityEnableDriverApi ActivityEnableRuntimeApi
ActivitySetAttribute ActivityGetAttribute ActivityFlush ActivityFlushAll ActivityFlushPeriod
ActivityGetNextRecord ActivityGetNumDroppedRecords ActivityPushExternalCorrelationId
ActivityPopExternalCorrelationId ActivityEnableLatencyTimestamps ActivityEnableLaunchAttributes
ActivityEnableHWTrace ActivityEnableDeviceGraph ActivityEnableAllocationSource
ActivityEnableAllSyncRecords ActivityConfigureUnifiedMemoryCounter
ActivityEnableCudaEventDeviceTimestamps GetContextId GetDeviceId
GetStreamId GetStreamIdEx GetGraphId GetGraphExecId GetGraphNodeId ComputeCapabilitySupported
DeviceSupported DeviceVirtualizationMode DeviceGetChipName""".split()


def main(library):
    listing = subprocess.run(["nm", "-D", "--defined-only", library], check=True,
                             capture_output=True, text=True).stdout
    names = {line.split()[-1] for line in listing.splitlines()} - {NODE, f"{NODE}@@{NODE}"}
    wrong = [name for name in names
             if not re.fullmatch(rf"(cupti\w+|InitializeInjection\w+|gprofml_simulated)@@{NODE}", name)]
    missing = [name for name in NEEDED if f"cupti{name}@@{NODE}" not in names]
    if f"gprofml_simulated@@{NODE}" not in names:
        missing.append("gprofml_simulated")
    for name in wrong:
        print(f"{library}: exports {name}, which is not of CUPTI's or has no version")
    for name in missing:
        print(f"{library}: does not export {name}")
    dynamic = subprocess.run(["readelf", "-d", library], check=True, capture_output=True, text=True)
    if f"Library soname: [{NODE}]" not in dynamic.stdout:
        wrong.append("soname")
        print(f"{library}: its soname is not {NODE}")
    return 1 if wrong or missing else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
