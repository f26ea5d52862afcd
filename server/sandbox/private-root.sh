# Runs a command in a separate file system, read-only: the system's programs, and the given folders at the same paths.
# Everything else is missing: the data folder, secrets, other processes. Needs `unshare --user --map-root-user --mount --pid`.
# Arguments: an empty folder, the folders, --, the command.
set -e
new=$1
shift
mount -t tmpfs -o size=1m,mode=0755 tmpfs "$new"
for old in /usr /lib /lib64 /bin; do
  if [ -L "$old" ]; then
    ln -s "$(readlink "$old")" "$new$old"
  elif [ -d "$old" ]; then
    mkdir -p "$new$old"
    mount -o bind,ro,nosuid,nodev "$old" "$new$old"
  fi
done
while [ "$1" != -- ]; do
  mkdir -p "$new$1"
  mount -o bind,ro,nosuid,nodev "$1" "$new$1"
  shift
done
shift
mkdir -p "$new/proc" "$new/old" "$new/empty"
mount -t proc proc "$new/proc"
cd "$new"
pivot_root . old
umount -l /old
rmdir /old
mount -o remount,bind,ro /
cd /empty
exec setpriv --no-new-privs --bounding-set=-all --inh-caps=-all --pdeathsig KILL "$@"
