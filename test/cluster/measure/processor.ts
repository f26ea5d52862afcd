import { readdirSync, readFileSync } from 'node:fs';

const TICKS_PER_SECOND = 100;

/** The processor time of processes with their children, also of those that have ended, in milliseconds. */
export function processorOf(pids: readonly number[]): number {
  const all = readdirSync('/proc').filter((name) => /^\d+$/.test(name));
  const ticks = all.map((name) => ticksOf(Number(name), pids)).reduce((sum, one) => sum + one, 0);
  return (ticks * 1000) / TICKS_PER_SECOND;
}

function ticksOf(pid: number, pids: readonly number[]): number {
  let stat: string;
  try {
    stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
  } catch {
    // It has ended.
    return 0;
  }
  // Its name, in brackets, may contain spaces.
  const fields = stat.split(') ').at(-1)!.split(' ').map(Number);
  const own = fields[11]! + fields[12]!;
  if (pids.includes(pid)) return own + fields[13]! + fields[14]!;
  return pids.includes(fields[1]!) ? own : 0;
}
