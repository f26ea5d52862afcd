import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { freePort } from '../../free-port.ts';
import { isInstalled, Program } from './program.ts';

/** versitygw, which serves the S3 protocol over a folder. */
const PROGRAM = process.env['S3_SERVER'] || 'versitygw';

export const S3_KEYS = { AWS_ACCESS_KEY_ID: 'access-key-of-tests', AWS_SECRET_ACCESS_KEY: 'secret-key-of-tests' };

export const hasS3Server = (): boolean => isInstalled(PROGRAM, '--version');

/** An S3 server of its own; each folder in its folder is a bucket. */
export class S3Server extends Program {
  readonly endpoint: string;
  readonly folder: string;

  private constructor(folder: string, port: number) {
    const { AWS_ACCESS_KEY_ID: access, AWS_SECRET_ACCESS_KEY: secret } = S3_KEYS;
    const keys = ['--access', access, '--secret', secret, '--region', 'us-east-1'];
    super([PROGRAM, ...keys, '--port', `127.0.0.1:${port}`, '--keep-alive', '--quiet', 'posix', folder]);
    this.folder = folder;
    this.endpoint = `http://127.0.0.1:${port}`;
  }

  static async make(folder: string, bucket: string): Promise<S3Server> {
    mkdirSync(join(folder, bucket), { recursive: true });
    const server = new S3Server(folder, await freePort());
    await server.start();
    return server;
  }

  protected answers(): Promise<Response> {
    return fetch(this.endpoint);
  }
}
