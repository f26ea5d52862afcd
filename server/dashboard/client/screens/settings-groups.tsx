import { useResource } from '../lib/api.ts';
import { linesOf, send, useForm } from '../lib/form.ts';
import { plural } from '../lib/format.ts';
import type { Group, GroupsAnswer, Project } from '../lib/types.ts';
import { ChoiceField, Form, ItemList, TextField } from '../parts/form.tsx';
import { KeywordPicker } from '../parts/keyword-picker.tsx';
import { describeRule, type GroupRule, newRule, RuleEditor } from '../parts/rule-editor.tsx';
import { GroupItem, Preview, Section } from '../parts/settings-parts.tsx';
import { ErrorBox, Skeleton } from '../parts/states.tsx';

interface PageGroup {
  readonly id: string;
  readonly name: string;
  readonly rule: GroupRule;
  readonly pinnedUrls: readonly string[];
}

interface GroupAnswer {
  readonly group: Group;
  readonly version: string;
}

interface PageGroupAnswer {
  readonly pageGroup: PageGroup;
  readonly version: string;
}

/** Groups of keywords: folders, by hand, and by rule. */
export function Groups({ project }: { project: Project }) {
  const path = `/projects/${project.id}/groups`;
  const { data, error, reload } = useResource<GroupsAnswer>(path);
  const groups = data?.groups ?? [];
  const folders = groups.filter(({ kind }) => kind === 'folder');
  const about = ({ kind, rule, keywordIds }: Group): string => {
    if (kind === 'folder') return 'Folder';
    return rule === null ? plural(keywordIds?.length ?? 0, 'keyword') : describeRule(rule as GroupRule);
  };
  return (
    <Section
      title="Groups of keywords"
      add="Add a group"
      draft={path}
      error={error && <ErrorBox error={error} retry={reload} />}
    >
      {(isAdding, end) => (
        <>
          {isAdding && (
            <GroupForm
              project={project}
              path={path}
              folders={folders}
              onEnd={(isSaved) => {
                end();
                if (isSaved) reload();
              }}
            />
          )}
          {data === undefined && !error && <Skeleton lines={2} />}
          <ItemList label="Groups of keywords">
            {groups.map((group) => (
              <GroupItem key={group.id} path={path} group={group} about={about(group)} onChange={reload}>
                {(read: GroupAnswer, onEnd) => (
                  <GroupForm project={project} path={path} read={read} folders={folders} onEnd={onEnd} />
                )}
              </GroupItem>
            ))}
          </ItemList>
        </>
      )}
    </Section>
  );
}

/** Groups of pages, by the path of their addresses. */
export function PageGroups({ project }: { project: Project }) {
  const path = `/projects/${project.id}/page-groups`;
  const { data, error, reload } = useResource<{ pageGroups: readonly PageGroup[] }>(path);
  return (
    <Section
      title="Groups of pages"
      add="Add a page group"
      draft={path}
      error={error && <ErrorBox error={error} retry={reload} />}
    >
      {(isAdding, end) => (
        <>
          {isAdding && (
            <PageGroupForm
              path={path}
              onEnd={(isSaved) => {
                end();
                if (isSaved) reload();
              }}
            />
          )}
          {data === undefined && !error && <Skeleton lines={2} />}
          <ItemList label="Groups of pages">
            {data?.pageGroups.map((group) => (
              <GroupItem key={group.id} path={path} group={group} about={describeRule(group.rule)} onChange={reload}>
                {(read: PageGroupAnswer, onEnd) => <PageGroupForm path={path} read={read} onEnd={onEnd} />}
              </GroupItem>
            ))}
          </ItemList>
        </>
      )}
    </Section>
  );
}

interface GroupFormProps {
  readonly project: Project;
  readonly path: string;
  /** The one that is changed; a new one without it. */
  readonly read?: GroupAnswer;
  readonly folders: readonly Group[];
  readonly onEnd: (isSaved: boolean) => void;
}

const groupValues = (group: Group | undefined) => ({
  name: group?.name ?? '',
  kind: group?.kind ?? 'rule',
  parentId: group?.parentId ?? '',
  rule: (group?.rule ?? newRule('keywords')) as GroupRule,
  keywordIds: (group?.keywordIds ?? []) as readonly string[],
});

function GroupForm({ project, path, read, folders, onEnd }: GroupFormProps) {
  const group = read?.group;
  const item = `${path}/${group?.id}`;
  const valuesOf = (answer: GroupAnswer) => groupValues(answer.group);
  const form = useForm(groupValues(group), {
    draft: group === undefined ? path : item,
    secrets: [],
    stored: read && { path: item, version: read.version, valuesOf },
  });
  const { name, kind, parentId, rule, keywordIds } = form.values;
  const parent = { parentId: parentId || null };
  const save = (): Promise<boolean> =>
    form.save(async (submitted) => {
      const body = { name, ...parent, ...(kind === 'rule' && { rule }), ...(kind === 'manual' && { keywordIds }) };
      if (group === undefined) await send('POST', path, { ...body, kind }, submitted);
      else await send('PATCH', item, body, submitted);
      onEnd(true);
    });
  const show = (values: typeof form.values, field: keyof typeof form.values): string => {
    if (field === 'rule') return describeRule(values.rule);
    if (field === 'keywordIds') return plural(values.keywordIds.length, 'keyword');
    return field === 'parentId' ? (folders.find(({ id }) => id === values.parentId)?.name ?? 'none') : values[field];
  };
  return (
    <Form
      form={form}
      fields={['name', 'parentId', 'kind']}
      labels={{ name: 'Name', parentId: 'In the folder', rule: 'Rule', keywordIds: 'Keywords' }}
      show={show}
      submit={group === undefined ? 'Add' : 'Save'}
      onSubmit={() => void save()}
      onCancel={() => onEnd(false)}
    >
      <div class="fields">
        <TextField form={form} name="name" label="Name" isRequired maxLength={200} />
        {group === undefined && (
          <ChoiceField
            form={form}
            name="kind"
            label="Kind"
            options={[
              ['rule', 'By rule'],
              ['manual', 'By hand'],
              ['folder', 'Folder'],
            ]}
          />
        )}
        <ChoiceField
          form={form}
          name="parentId"
          label="In the folder"
          options={[
            ['', 'none'],
            ...folders.filter(({ id }) => id !== group?.id).map(({ id, name: folder }) => [id, folder] as const),
          ]}
        />
      </div>
      {kind === 'manual' && (
        <KeywordPicker project={project} chosen={keywordIds} onChange={(next) => form.set({ keywordIds: next })} />
      )}
      {kind === 'rule' && (
        <>
          <RuleEditor of="keywords" rule={rule} onChange={(next) => form.set({ rule: next })} />
          <Preview
            path={`${path}/preview`}
            body={{ rule }}
            rowsOf={(answer: { total: number; keywords: readonly { query: string }[] }) =>
              answer.keywords.map(({ query }) => query)
            }
          />
        </>
      )}
    </Form>
  );
}

const pageGroupValues = (group: PageGroup | undefined) => ({
  name: group?.name ?? '',
  rule: group?.rule ?? newRule('pages'),
  pinnedUrls: group?.pinnedUrls.join('\n') ?? '',
});

interface PageGroupFormProps {
  readonly path: string;
  readonly read?: PageGroupAnswer;
  readonly onEnd: (isSaved: boolean) => void;
}

function PageGroupForm({ path, read, onEnd }: PageGroupFormProps) {
  const group = read?.pageGroup;
  const item = `${path}/${group?.id}`;
  const form = useForm(pageGroupValues(group), {
    draft: group === undefined ? path : item,
    secrets: [],
    stored: read && {
      path: item,
      version: read.version,
      valuesOf: (answer: PageGroupAnswer) => pageGroupValues(answer.pageGroup),
    },
  });
  const { name, rule } = form.values;
  const pinnedUrls = linesOf(form.values.pinnedUrls);
  const save = (): Promise<boolean> =>
    form.save(async (submitted) => {
      const body = { name, rule, pinnedUrls };
      if (group === undefined) await send('POST', path, body, submitted);
      else await send('PATCH', item, body, submitted);
      onEnd(true);
    });
  return (
    <Form
      form={form}
      fields={['name', 'pinnedUrls']}
      labels={{ name: 'Name', rule: 'Rule', pinnedUrls: 'Also these paths' }}
      show={(values, field) => (field === 'rule' ? describeRule(values.rule) : values[field])}
      submit={group === undefined ? 'Add' : 'Save'}
      onSubmit={() => void save()}
      onCancel={() => onEnd(false)}
    >
      <TextField form={form} name="name" label="Name" isRequired maxLength={200} />
      <RuleEditor of="pages" rule={rule} onChange={(next) => form.set({ rule: next })} />
      <TextField
        form={form}
        name="pinnedUrls"
        label="Also these paths"
        rows={2}
        help="One per line, such as /blog/best: they belong to it whatever the conditions say."
      />
      <Preview
        path={`${path}/preview`}
        body={{ rule, pinnedUrls }}
        rowsOf={(answer: { total: number; pages: readonly string[] }) => answer.pages}
      />
    </Form>
  );
}
