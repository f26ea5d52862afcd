import { CONNECT } from './connect.ts';
import { DELIVERY } from './delivery.ts';
import { SERVING } from './serving.ts';
import { STORES } from './stores.ts';
import { WORK } from './work.ts';

/** All settings: the parser of the environment, `--help` and docs/settings.md use this table. */
export const SETTINGS = { ...STORES, ...SERVING, ...CONNECT, ...DELIVERY, ...WORK };
