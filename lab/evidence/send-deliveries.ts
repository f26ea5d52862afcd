// A sender of deliveries whose clock is so many milliseconds ahead; it begins when it is told to, and is to be killed.
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { openCatalog } from '../../server/catalog/open-catalog.ts';
import { sendDue } from '../../server/channels/send.ts';
import { readSettings } from '../../server/settings/settings.ts';

const ahead = Number(process.argv[2]);
const settings = readSettings(process.env);
await using catalog = await openCatalog(settings);
const told = once(process, 'message');
process.send!('ready');
await told;
for (;;) {
  await sendDue(catalog, {
    settings,
    now: () => Date.now() + ahead,
    signal: new AbortController().signal,
    sleep: (milliseconds) => sleep(milliseconds).then(() => {}),
    random: Math.random,
    onError: (error) => console.error(error),
  });
  await sleep(5);
}
