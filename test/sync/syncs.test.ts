// What the provider has, what a sync asks for, and what is stored then: test/fixtures/syncs.txt.
import { syncTalks } from './talk.ts';

syncTalks('syncs.txt');
