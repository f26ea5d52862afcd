import { useState } from 'preact/hooks';
import { isManager, session, useResource } from '../lib/api.ts';
import { formatInstant } from '../lib/dates.ts';
import { send, useForm, useWork } from '../lib/form.ts';
import { Select } from '../parts/controls.tsx';
import { ChoiceField, Form, ItemList, Problem, RemoveButton, Secret, TextField, useTitle } from '../parts/form.tsx';
import { PageHead } from '../parts/page-head.tsx';
import { Empty, ErrorBox, Skeleton } from '../parts/states.tsx';

interface Person {
  readonly email: string;
  readonly role: string;
}

interface Member extends Person {
  readonly version: string;
}

interface Invitation extends Person {
  readonly id: string;
  readonly expiresAt: string;
}

const ROLES = [
  ['owner', 'Owner'],
  ['admin', 'Admin'],
  ['member', 'Member'],
] as const;

/** Who belongs to the workspace, and who is invited. */
export function Members() {
  useTitle('Members');
  const isOwner = session.value?.role === 'owner';
  const { data, error, isLoading, reload } = useResource<{ members: readonly Member[] }>(
    isManager.value ? '/members' : null,
  );
  const invited = useResource<{ invitations: readonly Invitation[] }>(isOwner ? '/invitations' : null);
  const [link, setLink] = useState<{ email: string; url: string }>();
  if (!isManager.value) return <Empty title="Only owners and admins see the members" />;
  return (
    <>
      <PageHead
        title="Members"
        subtitle={
          <p>
            What each role may do: <a href="/docs/guide/roles">Roles</a>
          </p>
        }
      />
      {error && <ErrorBox error={error} retry={reload} />}
      {link && <Secret label={`The link for ${link.email} works once, within seven days.`} value={link.url} />}
      {isOwner && (
        <Invite
          onInvited={(made) => {
            setLink(made);
            invited.reload();
          }}
        />
      )}
      {isLoading && <Skeleton lines={3} />}
      <ItemList label="Members">
        {data?.members.map((member) => (
          <MemberItem key={member.email} member={member} canChange={isOwner} onChange={reload} />
        ))}
      </ItemList>
      {(invited.data?.invitations.length ?? 0) > 0 && <h2 class="section-head">Invited</h2>}
      <ItemList label="Invitations">
        {invited.data?.invitations.map((invitation) => (
          <InvitationItem key={invitation.id} invitation={invitation} onChange={invited.reload} />
        ))}
      </ItemList>
    </>
  );
}

function Invite({ onInvited }: { onInvited: (made: { email: string; url: string }) => void }) {
  const form = useForm({ email: '', role: 'member' }, { draft: '/invitations', secrets: [] });
  const invite = (): Promise<boolean> =>
    form.save(async (submitted) => {
      const { url } = await send<{ url: string }>('POST', '/invitations', form.values, submitted);
      onInvited({ email: form.values.email, url });
      form.reset();
    });
  return (
    <Form form={form} fields={['email', 'role']} submit="Invite" onSubmit={() => void invite()}>
      <div class="fields">
        <TextField form={form} name="email" label="E-mail address" type="email" isRequired />
        <ChoiceField form={form} name="role" label="Role" options={ROLES} />
      </div>
    </Form>
  );
}

interface MemberProps {
  readonly member: Member;
  readonly canChange: boolean;
  readonly onChange: () => void;
}

function MemberItem({ member: { email, role, version }, canChange, onChange }: MemberProps) {
  const work = useWork();
  const path = `/members/${encodeURIComponent(email)}`;
  const changeRole = (next: string): Promise<boolean> =>
    work.run(async (submitted) => {
      try {
        await send('PATCH', path, { role: next }, { ...submitted, version });
      } finally {
        // Also what somebody else has changed meanwhile.
        onChange();
      }
    });
  return (
    <li>
      <div class="item-head">
        <strong>{email}</strong>
        {canChange ? (
          <span class="actions">
            <Select
              label={`Role of ${email}`}
              value={role}
              options={ROLES}
              onChange={(next) => void changeRole(next)}
            />
            <RemoveButton confirm="Remove from the workspace" path={path} work={work} onDone={onChange}>
              Remove
            </RemoveButton>
          </span>
        ) : (
          <span class="pill">{role}</span>
        )}
      </div>
      <Problem problem={work.problem} />
    </li>
  );
}

function InvitationItem({ invitation, onChange }: { invitation: Invitation; onChange: () => void }) {
  const { id, email, role, expiresAt } = invitation;
  const work = useWork();
  return (
    <li>
      <div class="item-head">
        <strong>{email}</strong>
        <span class="pill">{role}</span>
        <span class="muted">until {formatInstant(expiresAt)}</span>
        <span class="actions">
          <RemoveButton confirm="Revoke the invitation" path={`/invitations/${id}`} work={work} onDone={onChange}>
            Revoke
          </RemoveButton>
        </span>
      </div>
      <Problem problem={work.problem} />
    </li>
  );
}
