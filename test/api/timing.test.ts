// Every API answer reports the time of its stages in the Server-Timing header.
import t from 'tap';
import { facts, keyword, makeWorld } from '../world.ts';

t.test('each answer of the API reports the time of its stages', async (t) => {
  const world = await makeWorld(t, {
    keywords: [keyword('Kw001', 'boots')],
    site_daily: facts('date device', ['2026-03-09', 'mobile', 1, 2, 3]),
  });
  const stages = async (path: string): Promise<string[]> => {
    const { headers } = await world.get(path);
    const sent = headers['server-timing'];
    if (typeof sent !== 'string') return [];
    t.match(sent, /^\w+;dur=[\d.]+(, \w+;dur=[\d.]+)*$/);
    return sent.split(', ').map((stage) => stage.split(';')[0]!);
  };
  const all = ['parse', 'plan', 'run', 'format'];
  t.strictSame(await stages('/projects/Proj1/site'), all);
  t.strictSame(await stages('/projects/Proj1/site'), ['parse'], 'an answer from the cache');
  t.strictSame(await stages('/projects/Proj1/groups'), all, 'an answer that is not cached');
  t.strictSame(await stages('/projects/Proj1/keywords?daily=1'), ['parse', 'plan', 'run'], 'a streamed answer');
  t.strictSame(await stages('/projects/Proj1/site?period=x'), [], 'a refused one');
  t.strictSame(await world.app.inject('/docs').then(({ headers }) => headers['server-timing']), undefined);
});
