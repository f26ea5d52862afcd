import { randomUUID } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { join, relative } from 'node:path';
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
import pLimit from 'p-limit';
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

  async put(key: string, content: Buffer): Promise<void> {
    await this.#client.send(new PutObjectCommand({ Bucket: this.name, Key: key, Body: content }));
  }

  /** Puts all files below a folder under their paths in it. */
  async putFolder(folder: string, prefix: string): Promise<void> {
    const entries = await readdir(folder, { recursive: true, withFileTypes: true });
    const files = entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
    const limit = pLimit(8);
    const putting = files.map((file) =>
      limit(async () => this.put(`${prefix}/${relative(folder, file)}`, await readFile(file))),
    );
    await Promise.all(putting);
  }

  async remove(key: string): Promise<void> {
    await this.#client.send(new DeleteObjectCommand({ Bucket: this.name, Key: key }));
  }
}
