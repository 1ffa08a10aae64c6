// Who writes narratives of chains: a service of the operator's choice that speaks the OpenAI chat protocol, asked
// through the guarded client. What it says is data; the vulnerability manager checks it.
import type { Narrator } from '#vm-manager';
import { ApiError } from '../http-kit/index.js';
import type { Parts } from '../parts.js';

export type NarratorParts = Pick<Parts, 'outbound' | 'sealing' | 'currentSettings'>;

const timeoutMsDefault = 30_000;
const answerBytesMax = 256 * 1024;
/** A model is slow and costs money: more questions at once are answered that it is busy. */
const asksMax = 4;

/** What the model is called, and the address that is asked; null where none is configured. */
async function target({ outbound, sealing, currentSettings }: NarratorParts) {
  const { vm_model_url: base, vm_model_name: model, vm_model_key: sealed } = await currentSettings();
  if (base === '') return null;
  const url = new URL(base);
  if (!/\/chat\/completions\/?$/.test(url.pathname))
    url.pathname = `${url.pathname.replace(/\/+$/, '')}/chat/completions`;
  const key = sealed === null ? null : sealing.open(sealed, 'settings:/vm_model_key');
  // Findings of the installation, and the key, in the clear: only to a place that the operator named.
  const isAllowed = async (): Promise<boolean> => url.protocol === 'https:' || outbound.isAllowListed(url.href);
  return { url: url.href, model, key, isAllowed };
}

/** The text of an answer in the form of the protocol; throws a message for people for every other. */
function textOf(body: Buffer): string {
  let told: unknown;
  try {
    told = JSON.parse(body.toString('utf8'));
  } catch {
    throw new Error('its answer is no JSON');
  }
  const { choices } = (told ?? {}) as { choices?: readonly { message?: { content?: unknown } }[] };
  const content: unknown = Array.isArray(choices) ? choices[0]?.message?.content : undefined;
  if (typeof content !== 'string') throw new Error('its answer is not in the form of the chat protocol');
  return content;
}

/** What went wrong, without inner addresses: whoever reads findings reads it. */
function reasonOf(error: unknown): Error {
  if (!(error instanceof ApiError)) return error instanceof Error ? error : new Error(String(error));
  if (error.code === 'outbound_refused')
    return new Error('it may not be called; an administrator has to look at vm_model_url and OUTBOUND_ALLOW');
  return new Error(error.message.replace(/ \(.*\)/s, '').replace(/\.$/, ''));
}

/** The narrator of the present settings, or null; made for each question, so that a change of the settings counts. */
export function createNarrators(parts: NarratorParts, timeoutMs = timeoutMsDefault): () => Promise<Narrator | null> {
  let asking = 0;
  const ask = async (at: NonNullable<Awaited<ReturnType<typeof target>>>, instructions: string, data: string) => {
    if (!(await at.isAllowed())) throw new Error('it has to be reached by https, or be named in OUTBOUND_ALLOW');
    const reply = await parts.outbound.send(at.url, {
      method: 'POST',
      timeoutMs,
      bytesMax: answerBytesMax,
      redirectsMax: 0,
      headers: {
        'content-type': 'application/json',
        accept: 'application/json',
        ...(at.key === null ? {} : { authorization: `Bearer ${at.key}` }),
      },
      body: JSON.stringify({
        model: at.model,
        stream: false,
        temperature: 0,
        messages: [
          { role: 'system', content: instructions },
          { role: 'user', content: data },
        ],
      }),
    });
    if (reply.status !== 200) throw new Error(`it answered ${reply.status}`);
    return textOf(reply.body);
  };
  return async () => {
    const at = await target(parts);
    if (at === null) return null;
    return {
      async complete(instructions, data) {
        if (asking >= asksMax) throw new Error('it is busy with other questions; try again in a minute');
        asking += 1;
        try {
          return await ask(at, instructions, data);
        } catch (error) {
          throw reasonOf(error);
        } finally {
          asking -= 1;
        }
      },
    };
  };
}
