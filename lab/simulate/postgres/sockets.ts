import { Duplex } from 'node:stream';
import type { Link } from './link.ts';

/** The module `node:net` of a process, as far as the driver uses it. */
export function socketsOf(open: (stream: Duplex, port: number, host: string) => Promise<Link>) {
  class SimulatedSocket extends Duplex {
    #link: Link | undefined;

    connect(port: number, host: string): this {
      open(this, port, host).then(
        (link) => {
          this.#link = link;
          if (this.destroyed) link.end();
          else this.emit('connect');
        },
        (error: Error) => this.destroy(error),
      );
      return this;
    }

    override _read(): void {}

    override _write(bytes: Buffer, _: string, done: () => void): void {
      this.#link!.write(bytes);
      done();
    }

    override _writev(parts: { readonly chunk: Buffer }[], done: () => void): void {
      this.#link!.write(Buffer.concat(parts.map(({ chunk }) => chunk)));
      done();
    }

    override _final(done: () => void): void {
      this.#link?.end();
      done();
    }

    override _destroy(error: Error | null, done: (error: Error | null) => void): void {
      this.#link?.end();
      done(error);
    }

    readonly setNoDelay = (): this => this;
    readonly setKeepAlive = (): this => this;
    readonly ref = (): this => this;
    readonly unref = (): this => this;
  }
  return { Socket: SimulatedSocket };
}
