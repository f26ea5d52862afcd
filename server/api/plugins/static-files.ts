import { createHash } from 'node:crypto';
import type { FastifyInstance } from 'fastify';
import { notFound } from '../../domain/errors.ts';
import { lazy } from '../../runtime/promises.ts';
import { type Encoding, preferredEncoding } from '../negotiation.ts';
import { type EncodedBytes, encode } from './compression.ts';

/** Name, media type and content of a file that pages load. */
export type StaticFile = readonly [name: string, type: string, bytes: Buffer];

/** A file with its requested encodings. */
interface Asset {
  readonly type: string;
  readonly bytes: Buffer;
  readonly encoded: Map<Encoding, Promise<EncodedBytes>>;
}

interface Assets {
  /** A hash of all files, so that browsers can cache them indefinitely. */
  readonly version: string;
  readonly files: ReadonlyMap<string, Asset>;
}

/**
 * Serves files at `ROOT/VERSION/NAME`.
 * @param read called on the first visit, because most servers never serve the files
 * @returns the current address of their folder
 */
export function addStaticFiles(
  app: FastifyInstance,
  root: string,
  read: () => readonly StaticFile[] | Promise<readonly StaticFile[]>,
): () => Promise<string> {
  const getAssets = lazy(async () => assetsOf(await read()));
  app.get<{ Params: { version: string; name: string } }>(
    `${root}/:version/:name`,
    { schema: { hide: true } },
    async (request, reply) => {
      const { version, files } = await getAssets();
      const asset = request.params.version === version ? files.get(request.params.name) : undefined;
      if (asset === undefined) throw notFound('There is no such file; the documentation is at /docs.');
      const { bytes, encoding } = await inEncoding(asset, preferredEncoding(request));
      if (encoding !== 'identity') reply.header('content-encoding', encoding);
      return reply
        .headers({ 'cache-control': 'public, max-age=31536000, immutable', vary: 'accept-encoding' })
        .type(asset.type)
        .send(bytes);
    },
  );
  return async () => `${root}/${(await getAssets()).version}`;
}

function assetsOf(files: readonly StaticFile[]): Assets {
  const hash = createHash('sha256');
  for (const [, , bytes] of files) hash.update(bytes);
  return {
    version: hash.digest('hex').slice(0, 16),
    files: new Map(files.map(([name, type, bytes]) => [name, { type, bytes, encoded: new Map() }])),
  };
}

function inEncoding({ bytes, encoded }: Asset, encoding: Encoding): Promise<EncodedBytes> {
  return encoded.getOrInsertComputed(encoding, () => encode(bytes, encoding));
}
