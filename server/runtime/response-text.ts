/** The text of a response. Throws the error of `tooLong`, and reads no further, if it has more than `maxBytes`. */
export async function readText({ body }: Response, maxBytes: number, tooLong: () => Error): Promise<string> {
  const decoder = new TextDecoder();
  let text = '';
  let bytes = 0;
  for await (const part of (body ?? []) as AsyncIterable<Uint8Array>) {
    bytes += part.byteLength;
    if (bytes > maxBytes) throw tooLong();
    text += decoder.decode(part, { stream: true });
  }
  return text + decoder.decode();
}
