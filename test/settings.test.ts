// Settings are checked at startup, and former names still work with a warning.
import t from 'tap';
import { readSettings } from '../server/settings/settings.ts';
import { SETTINGS } from '../server/settings/table.ts';

/** Settings with what was warned of. */
function read(environment: NodeJS.ProcessEnv) {
  const warnings: string[] = [];
  const settings = readSettings(environment, (sentence) => void warnings.push(sentence));
  return { settings, warnings };
}

t.test('a setting is read under its former name, with a warning', (t) => {
  const { settings, warnings } = read({ ORDINATE_LISTS_PATIENCE: '7' });
  t.equal(settings.listWait, 7);
  t.strictSame(warnings, [
    'ORDINATE_LISTS_PATIENCE is now called ORDINATE_LISTS_WAIT_SECONDS; the former name will not be accepted by the next version.',
  ]);
  t.end();
});

t.test('the new name counts where both are set', (t) => {
  const { settings, warnings } = read({ ORDINATE_LISTS_PATIENCE: '7', ORDINATE_LISTS_WAIT_SECONDS: '8' });
  t.equal(settings.listWait, 8);
  t.match(warnings, [/^ORDINATE_LISTS_PATIENCE is ignored, because ORDINATE_LISTS_WAIT_SECONDS is set/]);
  t.end();
});

t.test('names that are not set, or empty, warn of nothing', (t) => {
  for (const environment of [
    {},
    { ORDINATE_LISTS_PATIENCE: '' },
    { ORDINATE_LISTS_PATIENCE: '', ORDINATE_LISTS_WAIT_SECONDS: '60' },
  ]) {
    const { settings, warnings } = read(environment);
    t.strictSame([settings.listWait, warnings], [60, []]);
  }
  const empty = Object.fromEntries(Object.values(SETTINGS).map(({ name }) => [name, '']));
  t.strictSame(read(empty), read({}), 'all of them');
  t.end();
});

t.test('the public address is https, without a path', (t) => {
  const url = (text: string) => read({ ORDINATE_PUBLIC_URL: text }).settings.publicUrl;
  t.equal(url(''), null);
  t.equal(url('https://reports.example:8443'), 'https://reports.example:8443');
  for (const local of ['http://localhost:3000', 'http://127.0.0.1', 'http://[::1]:3000']) t.equal(url(local), local);
  for (const wrong of [
    'http://reports.example',
    'http://localhost.example',
    'http://127.0.0.2:3000',
    'https://reports.example/',
    'https://reports.example/app',
    'reports.example',
    'javascript:alert(1)',
  ]) {
    t.throws(
      () => url(wrong),
      { message: /^ORDINATE_PUBLIC_URL must be an https address without a path, such as .*, or http with localhost/ },
      wrong,
    );
  }
  t.end();
});

t.test('errors name the setting as it was written, and all of them are reported', (t) => {
  t.throws(
    () => read({ ORDINATE_LISTS_PATIENCE: 'long', ORDINATE_THREDS: '2', ORDINATE_PROVIDER_REQUESTS_PER_MINUTE: '0' }),
    {
      message:
        /^ORDINATE_THREDS is not a setting of Ordinate(?!.*ORDINATE_LISTS_PATIENCE).*\nORDINATE_LISTS_PATIENCE must be a whole number from 1 to 60, not 'long'\.\nORDINATE_PROVIDER_REQUESTS_PER_MINUTE must be a whole number from 1 to 100000, not '0'\.$/,
    },
  );
  t.end();
});

t.test('a setting without the prefix is named to whoever writes it with the prefix', (t) => {
  t.throws(() => read({ ORDINATE_PORT: '3100' }), {
    message: 'ORDINATE_PORT is not a setting of Ordinate; write PORT.',
  });
  t.end();
});

t.test('an address of Redis is checked, and an error does not show its password', (t) => {
  const limits = (text: string) => read({ ORDINATE_LIMITS: text }).settings.limits;
  for (const right of ['', 'redis://127.0.0.1', 'rediss://user:p%40ss@redis.example:6380/2', 'redis://:pass@[::1]/']) {
    t.equal(limits(right), right);
  }
  for (const wrong of [
    'http://:secret@redis.example',
    'redis://:secret@redis.example/name',
    'redis://:secret%zz@redis.example',
    'redis://:sec/ret@redis.example:6379',
    'redis:///2',
    'redis.example:6379',
  ]) {
    t.throws(
      () => limits(wrong),
      { message: /^ORDINATE_LIMITS must be an address such as redis:.*, not something else\.$/ },
      wrong,
    );
  }
  t.end();
});
