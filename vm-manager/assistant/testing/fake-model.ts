// A service on this machine in the model's place, which keeps what it was sent and answers as a test says.
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Test } from 'tap';

export type Answer = (request: IncomingMessage, response: ServerResponse) => void;

export interface FakeModel {
  readonly url: string;
  /** Bodies, as they came. */
  readonly asked: string[];
  answer: Answer;
}

export async function startModel(t: Test): Promise<FakeModel> {
  const model = { url: '', asked: [] as string[], answer: (() => undefined) as Answer };
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      model.asked.push(Buffer.concat(chunks).toString());
      model.answer(request, response);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.teardown(() => {
    server.closeAllConnections();
    server.close();
  });
  model.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`;
  return model;
}

export const saying =
  (content: unknown): Answer =>
  (_, response) =>
    void response.end(
      JSON.stringify({
        choices: [{ message: { content: typeof content === 'string' ? content : JSON.stringify(content) } }],
      }),
    );
