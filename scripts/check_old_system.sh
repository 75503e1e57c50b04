#!/usr/bin/env bash
# Loads the built injection library in the root of an older Debian (bullseye, glibc 2.31), where
# nothing of this machine's C library is, and lets it start a recording there.
#   scripts/check_old_system.sh [PRESET]     needs root, and debootstrap with the mirror of apt
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

preset="${1:-release}"
library="build/$preset/lib/libgprofml_injection.so"
[[ -e $library ]] || { echo "check_old_system: build it first: $library" >&2; exit 2; }
[[ $(id -u) -eq 0 ]] || { echo "check_old_system: needs root, for chroot" >&2; exit 2; }

root="$PWD/build/bullseye"
if [[ ! -x $root/usr/bin/perl ]]; then
  command -v debootstrap >/dev/null ||
    quiet debootstrap-install.log "install debootstrap" apt-get install -y --no-install-recommends debootstrap
  mirror=$(apt-get indextargets --format '$(SITE)' 'Created-By: Packages' | grep -v -- -security | head -n 1)
  rm -rf "$root"
  quiet debootstrap.log "debootstrap bullseye" debootstrap --variant=minbase bullseye "$root" "$mirror"
fi

# in_old_system COMMAND...
in_old_system() { chroot "$root" /usr/bin/env -i PATH=/usr/bin:/bin "$@"; }

cp "$library" "$root/opt/"
rm -rf "$root/tmp/spool" && mkdir "$root/tmp/spool"
failed=0

# The dynamic linker only warns when a library cannot be preloaded: its silence is the proof.
said=$(in_old_system LD_BIND_NOW=1 LD_PRELOAD=/opt/libgprofml_injection.so /bin/true 2>&1) || failed=1
if [[ -n $said || $failed -ne 0 ]]; then
  echo "check_old_system: FAILED to preload: $said" >&2
  failed=1
fi

# Perl's base package can open a library and call a function of it. The driver's part is played
# here: InitializeInjection must come back and leave a spool with its header.
in_old_system GPROFML_SPOOL_DIR=/tmp/spool perl -MDynaLoader -e '
  my $library = DynaLoader::dl_load_file("/opt/libgprofml_injection.so", 0) or die DynaLoader::dl_error();
  my $entry = DynaLoader::dl_find_symbol($library, "InitializeInjection") or die DynaLoader::dl_error();
  DynaLoader::dl_install_xsub("main::initialize", $entry);
  my $ignored = initialize();
  exit 7;' && rc=0 || rc=$?
spools=("$root"/tmp/spool/*.spool)
if [[ $rc -ne 7 ]]; then
  echo "check_old_system: FAILED: the program should have exited 7, it exited $rc" >&2
  failed=1
elif [[ ! -s ${spools[0]} || $(head -c 7 "${spools[0]}") != GPRFSPO ]]; then
  echo "check_old_system: FAILED: no spool was written" >&2
  failed=1
fi

glibc=$(in_old_system ldd --version | head -n 1)
[[ $failed -eq 0 ]] && echo "check_old_system: loads and records under $glibc"
exit "$failed"
