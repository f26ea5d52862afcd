// The policy for the object store allows what the store asks for, and nothing else.
import { globSync, readFileSync } from 'node:fs';
import t from 'tap';

/** The actions that each request needs. `Upload` sends large files in parts. */
const ACTIONS: Readonly<Record<string, readonly string[]>> = {
  GetObjectCommand: ['s3:GetObject'],
  // Without the right to list, a missing object would look like a forbidden one.
  HeadObjectCommand: ['s3:GetObject', 's3:ListBucket'],
  HeadBucketCommand: ['s3:ListBucket'],
  PutObjectCommand: ['s3:PutObject'],
  Upload: ['s3:PutObject', 's3:AbortMultipartUpload'],
  DeleteObjectCommand: ['s3:DeleteObject'],
  AbortMultipartUploadCommand: ['s3:AbortMultipartUpload'],
  ListMultipartUploadsCommand: ['s3:ListBucketMultipartUploads'],
  ListObjectsV2Command: ['s3:ListBucket'],
};
const OF_BUCKET = ['s3:ListBucket', 's3:ListBucketMultipartUploads'];

interface Policy {
  readonly Statement: readonly {
    readonly Effect: string;
    readonly Action: readonly string[];
    readonly Resource: string;
  }[];
}

t.test('actions and resources', (t) => {
  const source = globSync('server/storage/s3/*.ts').map((file) => readFileSync(file, 'utf8'));
  const sent = new Set(
    source
      .join('\n')
      .match(/\bnew (?:\w+Command|Upload)\b/g)
      ?.map((text) => text.slice(4)),
  );
  t.ok(sent.size >= 7, 'requests are found');
  for (const request of sent) t.ok(request in ACTIONS, `it is known what ${request} needs`);
  const needed = new Set([...sent].flatMap((request) => ACTIONS[request] ?? []));
  const { Statement } = JSON.parse(readFileSync('docs/s3/iam-policy.json', 'utf8')) as Policy;
  t.strictSame(new Set(Statement.flatMap(({ Action }) => Action)), needed);
  for (const { Effect, Action, Resource } of Statement) {
    t.equal(Effect, 'Allow');
    for (const action of Action) t.equal(Resource.endsWith('/*'), !OF_BUCKET.includes(action), action);
  }
  const guide = readFileSync('docs/cluster.md', 'utf8');
  for (const action of needed) t.match(guide, `\`${action}\``);
  t.match(guide, 'docs/s3/iam-policy.json');
  t.end();
});
