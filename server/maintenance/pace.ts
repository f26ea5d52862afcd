import { secondsSince } from '../runtime/measurements.ts';

/** Files that a large installation has. */
const MANY = 10_000_000;

/** With fewer files, mostly the start of the work would be measured. */
const FEWEST = 100;

/** `410 files a second; 10 million files would take 6.8 hours`. Empty for too few files. */
export function paceOf(files: number, seconds: number): string {
  if (files < FEWEST || seconds <= 0) return '';
  const rate = files / seconds;
  const hours = MANY / rate / 3600;
  const shown = (value: number): string => value.toLocaleString('en', { maximumSignificantDigits: 2 });
  return `${shown(rate)} files a second; 10 million files would take ${shown(hours)} hours`;
}

/** A step of work and its pace. @param started see `performance.now` */
export function withPace(step: string, files: number, started: number): string {
  const pace = paceOf(files, secondsSince(started));
  return pace === '' ? step : `${step}, ${pace}`;
}
