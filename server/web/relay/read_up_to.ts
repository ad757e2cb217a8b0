/** Reads a stream of anybody's bytes. Throws a RangeError when there are more than `bytesMax`, and what the stream throws. */
export async function readUpTo(
  stream: ReadableStream<Uint8Array<ArrayBuffer>>,
  bytesMax: number,
): Promise<Uint8Array<ArrayBuffer>> {
  const parts: Uint8Array<ArrayBuffer>[] = [];
  let bytes = 0;
  const reader = stream.getReader();
  for (let part = await reader.read(); !part.done; part = await reader.read()) {
    bytes += part.value.length;
    if (bytes > bytesMax) {
      await reader.cancel();
      throw new RangeError('There are more bytes than there may be.');
    }
    parts.push(part.value);
  }
  return new Uint8Array(await new Blob(parts).arrayBuffer());
}
