// A thread of light requests until it gets a message, so that work of its process does not delay what is timed.
import { parentPort, workerData } from 'node:worker_threads';
import { KeyRing } from '../keys.ts';
import { lightRequests } from './light.ts';

export interface LightWork {
  readonly address: string;
  readonly keys: readonly string[];
  readonly projects: readonly string[];
  /** The time that answers are asked for, in milliseconds. */
  readonly now: number;
}

const { address, keys, projects, now } = workerData as LightWork;
const ended = new AbortController();
parentPort!.once('message', () => ended.abort());
const server = { address: new URL(address), keys: new KeyRing(keys) };
parentPort!.postMessage(await lightRequests(server, projects, ended.signal, now));
