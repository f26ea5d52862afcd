import { workerData } from 'node:worker_threads';
import { copyCatalog } from './copies.ts';

// The thread of one copy: writing it blocks.
const { dataFolder, path } = workerData as { dataFolder: string; path: string };
copyCatalog(dataFolder, path);
