// Each chat gets what it takes, with title, project and link, and texts from outside as nothing but text.
import t from 'tap';
import { chatBody } from '../../server/channels/chat.ts';
import { signedHeaders } from '../../server/channels/webhook.ts';

const KINDS = ['slack', 'discord', 'teams', 'google-chat'] as const;
const LINK = 'https://reports.example.com/app/p/Proj1/alerts?status=all&alert=1';
const PLAIN = {
  title: 'Clicks fell 40%',
  lines: ['Fewer clicks than in a usual week.'],
  about: 'shop.example',
  link: LINK,
};

/** All texts of a value. */
function textsOf(value: unknown): string[] {
  if (typeof value === 'string') return [value];
  return typeof value === 'object' && value !== null ? Object.values(value).flatMap(textsOf) : [];
}

t.test('title, project and link are in each', (t) => {
  for (const kind of KINDS) {
    const texts = textsOf(JSON.parse(chatBody(kind, PLAIN))).join('\n');
    for (const part of [PLAIN.title, PLAIN.lines[0]!, PLAIN.about, LINK])
      t.ok(texts.includes(part), `${kind}: ${part}`);
    t.ok(JSON.parse(chatBody(kind, { ...PLAIN, link: null })), `${kind} without a link`);
  }
  t.end();
});

t.test('texts from outside make no mention, link or markup, and have a limit', (t) => {
  const evil = [
    '@here @everyone <!channel> <@U123> <users/all> <at>all</at> [click](https://evil.example) <https://evil.example|x>',
    '*bold* _it_ ~no~ `code` https://evil.example & www.evil.example \\*x\\* \u202e\n# head',
  ].join(' ');
  for (const kind of KINDS) {
    const body = chatBody(kind, { title: evil, lines: [evil, 'x'.repeat(60_000)], about: evil, link: LINK });
    t.ok(Buffer.byteLength(body) < 28_000, `${kind}: ${Buffer.byteLength(body)} bytes`);
    const texts = textsOf(JSON.parse(body)).join('\n');
    t.notMatch(texts, /@(here|everyone|U123)/, kind);
    t.notMatch(texts, /https:\/\/evil|www\.evil|\]\(https:\/\/e|\u202e/, kind);
    t.notMatch(texts, /(?<!\\)<[!@u/a]/, kind);
  }
  const discord = JSON.parse(chatBody('discord', { ...PLAIN, title: evil, lines: [evil, 'x'.repeat(6000)] }));
  t.match(discord, { allowed_mentions: { parse: [] } });
  t.ok(discord.content.length <= 2000);
  t.ok(discord.content.endsWith(`<${LINK}>`));
  t.match(discord.content, String.raw`\*bold\* \_it\_ \~no\~ \`code\``);
  const slack = JSON.parse(chatBody('slack', { ...PLAIN, title: 'a & <b>' }));
  t.match(slack.text, 'a &amp; &lt;b&gt;');
  t.match(slack.blocks[0], { type: 'section', text: { type: 'plain_text', text: 'a &amp; &lt;b&gt;' } });
  t.end();
});

t.test('webhooks are signed as Standard Webhooks says', (t) => {
  // The example of its reference libraries.
  const message = { id: 'msg_p5jXN8AQM9LWM0D4loKWxJek', body: '{"test": 2432232314}' };
  const secret = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw';
  const signature = 'v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=';
  t.strictSame(signedHeaders(message, [secret], 1_614_265_330), {
    'webhook-id': message.id,
    'webhook-timestamp': '1614265330',
    'webhook-signature': signature,
  });
  const both = signedHeaders(message, ['whsec_AAAA', secret], 1_614_265_330)['webhook-signature']!;
  t.match(both, /^v1,\S+ v1,\S+$/);
  t.ok(both.endsWith(` ${signature}`), 'the old one comes second');
  t.end();
});
