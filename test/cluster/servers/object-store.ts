import { randomUUID } from 'node:crypto';
import type { Readable } from 'node:stream';
import {
  CreateBucketCommand,
  DeleteObjectCommand,
  GetObjectCommand,
  ListMultipartUploadsCommand,
  ListObjectsV2Command,
  PutObjectCommand,
  S3Client,
} from '@aws-sdk/client-s3';
import type { Test } from 'tap';

/** A bucket of a test, as a user of the object store sees it. */
export class Bucket {
  readonly name: string;
  readonly #client: S3Client;

  private constructor(client: S3Client, name: string) {
    this.#client = client;
    this.name = name;
  }

  /** Creates one. @param endpoint with the credentials of the environment */
  static async create(t: Pick<Test, 'teardown'>, endpoint: string): Promise<Bucket> {
    const client = new S3Client({
      endpoint,
      region: 'us-east-1',
      forcePathStyle: true,
      requestChecksumCalculation: 'WHEN_REQUIRED',
    });
    t.teardown(() => client.destroy());
    const name = `ordinate-${randomUUID().slice(0, 8)}`;
    await client.send(new CreateBucketCommand({ Bucket: name }));
    return new Bucket(client, name);
  }

  /** The settings of a server or command that stores its files here. */
  settings(endpoint: string, prefix = ''): NodeJS.ProcessEnv {
    const { AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY } = process.env;
    return {
      AWS_ACCESS_KEY_ID,
      AWS_SECRET_ACCESS_KEY,
      ORDINATE_STORAGE: `s3://${this.name}${prefix && `/${prefix}`}`,
      ORDINATE_STORAGE_ENDPOINT: endpoint,
    };
  }

  /** The keys of all objects, sorted. */
  async keys(): Promise<string[]> {
    const keys: string[] = [];
    for (let token: string | undefined; ; ) {
      const found = await this.#client.send(
        new ListObjectsV2Command({ Bucket: this.name, ...(token && { ContinuationToken: token }) }),
      );
      keys.push(...(found.Contents ?? []).map(({ Key }) => Key!));
      token = found.NextContinuationToken;
      if (token === undefined) return keys.sort();
    }
  }

  /** How many uploads of several parts have not ended. */
  async uploads(): Promise<number> {
    const { Uploads = [] } = await this.#client.send(new ListMultipartUploadsCommand({ Bucket: this.name }));
    return Uploads.length;
  }

  async get(key: string): Promise<Buffer> {
    const { Body } = await this.#client.send(new GetObjectCommand({ Bucket: this.name, Key: key }));
    return Buffer.concat((await (Body as Readable).toArray()) as Buffer[]);
  }

  /** Stores an object, or removes it. */
  async set(key: string, content: Buffer | undefined): Promise<void> {
    const object = { Bucket: this.name, Key: key };
    if (content === undefined) await this.#client.send(new DeleteObjectCommand(object));
    else await this.#client.send(new PutObjectCommand({ ...object, Body: content }));
  }

  remove(key: string): Promise<void> {
    return this.set(key, undefined);
  }
}
