/**
 * Stands for `docker`, `sudo` and the tools of the system in scripts of the documentation: what they would run of Ordinate
 * runs, other commands are printed. `install-service` is always a dry run.
 */
export const DEPLOYMENT_TOOLS = `
docker() {
  echo "docker $*"
  [ "$2" = exec ] && shift 3 && "$@" && return
  [ "$2" = run ] || return 0
  while [ "$1" != ordinate ]; do shift; done
  "$@"
}
sudo() {
  [ "$1" = -u ] && shift 2
  [ "$1" = env ] && shift 2
  if [ "$1" = ordinate ]; then "$@" $([ "$2" = install-service ] && echo --dry-run); else echo "$@"; fi
}
npm() { echo "npm $*"; }
`;
