import { readdirSync } from 'node:fs';
import { readProcess } from './memory.ts';

/** The processor time of processes with their children, also of those that have ended, in milliseconds. */
export function processorOf(pids: readonly number[]): number {
  const all = readdirSync('/proc').filter((name) => /^\d+$/.test(name));
  return all.map((name) => secondsOf(Number(name), pids)).reduce((sum, one) => sum + one, 0) * 1000;
}

function secondsOf(pid: number, pids: readonly number[]): number {
  const found = readProcess(pid);
  // It has ended.
  if (found === null) return 0;
  if (pids.includes(pid)) return found.own + found.ended;
  return pids.includes(found.parent) ? found.own : 0;
}
