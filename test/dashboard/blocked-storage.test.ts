// The dashboard works in a browser that blocks storage or has none left; it just keeps nothing.
import t from 'tap';

const blocked = new DOMException('The operation is insecure.', 'SecurityError');
const refuse = (): never => {
  throw blocked;
};
for (const [name, what] of Object.entries({
  localStorage: { get: refuse },
  location: { value: { pathname: '/app' } },
})) {
  const before = Object.getOwnPropertyDescriptor(globalThis, name);
  Object.defineProperty(globalThis, name, { configurable: true, ...what });
  t.teardown(() => {
    Reflect.deleteProperty(globalThis, name);
    if (before) Object.defineProperty(globalThis, name, before);
  });
}
// Loaded when both are set, and by a computed name: their types would bring those of browsers to all tests.
const client = new URL('../../server/dashboard/client/lib/', import.meta.url).href;
const { session } = (await import(`${client}api.ts`)) as { session: { value: unknown } };
const { dropDraft, dropDrafts, hasDraft, writeDraft } = (await import(`${client}drafts.ts`)) as {
  dropDraft: (form: string) => void;
  dropDrafts: () => void;
  hasDraft: (form: string) => boolean;
  writeDraft: (form: string, draft: object) => void;
};
const { lastVisit } = (await import(`${client}last-visit.ts`)) as { lastVisit: () => Date | null };

t.test('everything that stores something in the browser works without storage', async (t) => {
  writeDraft('note', { values: { text: 'x' }, at: Date.now() });
  t.equal(hasDraft('note'), false);
  dropDraft('note');
  dropDrafts();
  // Whoever signs in drops the drafts of others.
  session.value = { workspace: { id: 'acme' }, email: 'a@acme.example' } as unknown as NonNullable<
    typeof session.value
  >;
  t.equal(lastVisit(), null);
});
