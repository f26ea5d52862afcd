import asyncHooks from 'node:async_hooks';
import { syncBuiltinESMExports } from 'node:module';

// tap finds the test of an error that nobody caught by hooks on all asynchronous resources. Hooks on promises would take a
// tenth of the time of all tests; without them, a rejection that nobody handles fails the process instead of its test.
const { createHook } = asyncHooks;
asyncHooks.createHook = (callbacks) => createHook({ ...callbacks, trackPromises: false });
syncBuiltinESMExports();
