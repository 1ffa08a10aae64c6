// Reports that are no UTF-8: a shell of Windows redirects into UTF-16, and XML names its encoding itself. They become
// UTF-8 beside the file, so that everything behind reads one encoding.
import { ApiError } from '#http-kit';
import { createReadStream, createWriteStream } from 'node:fs';
import { open, stat } from 'node:fs/promises';
import { pipeline } from 'node:stream/promises';
import { TextDecoder } from 'node:util';
import { unfit } from '../../kit/endpoint.js';
import type { ReportFile } from './report-file.js';

const headBytes = 200;

/** By the mark at the beginning, else by the declaration of XML; '' for UTF-8 and what says nothing. */
async function encodingOf({ path }: ReportFile): Promise<string> {
  const handle = await open(path);
  try {
    const { buffer, bytesRead } = await handle.read(Buffer.alloc(headBytes), 0, headBytes, 0);
    const head = buffer.toString('latin1', 0, bytesRead);
    if (head.startsWith('\xff\xfe')) return 'utf-16le';
    if (head.startsWith('\xfe\xff')) return 'utf-16be';
    if (head.startsWith('\xef\xbb\xbf')) return '';
    const declared = /^\s*<\?xml\s[^>]{0,150}?encoding\s*=\s*["']([A-Za-z][\w.-]{0,40})["']/.exec(head)?.[1] ?? '';
    return /^(?:utf-?8|us-ascii)$/i.test(declared) ? '' : declared.toLowerCase();
  } finally {
    await handle.close();
  }
}

function decoderOf(encoding: string): TextDecoder {
  try {
    return new TextDecoder(encoding, { fatal: true });
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    throw unfit('file', `is in the encoding ${encoding}, which is not known`, 'send it in UTF-8');
  }
}

/**
 * The report in UTF-8: the file itself, or another beside it on the disk (the directory is removed with the request).
 * Throws ApiError 400 for what is not in the encoding that it names, 413 beyond `bytesMax`, 422 for one not known.
 */
export async function inUtf8(file: ReportFile, bytesMax: number): Promise<ReportFile> {
  const encoding = await encodingOf(file);
  if (encoding === '') return file;
  const path = `${file.path}.utf8`;
  const decoder = decoderOf(encoding);
  const decode = (chunk?: Buffer): Buffer => {
    try {
      return Buffer.from(decoder.decode(chunk, { stream: chunk !== undefined }), 'utf8');
    } catch (error) {
      if (!(error instanceof TypeError)) throw error;
      throw new ApiError('malformed_request', `The report is not in ${encoding}, which it says that it is.`);
    }
  };
  await pipeline(
    createReadStream(file.path),
    async function* (chunks: AsyncIterable<Buffer>) {
      let bytes = 0;
      for await (const chunk of chunks) {
        const made = decode(chunk);
        if ((bytes += made.length) > bytesMax)
          throw new ApiError('body_too_large', `The file is larger than ${bytesMax} bytes in UTF-8.`);
        yield made;
      }
      yield decode();
    },
    createWriteStream(path, { flags: 'wx', mode: 0o600 }),
  );
  return { path, bytes: (await stat(path)).size };
}
