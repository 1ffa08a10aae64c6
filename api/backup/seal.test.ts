import t from 'tap';
import { createKey, openSealed } from './seal.js';

t.test('an error of a key that is none repeats no part of it', async (t) => {
  const { identity } = await createKey();
  const secret = identity.slice('AGE-SECRET-KEY-1'.length);
  const words = new Map<string, string>();
  const tried = async (text: string): Promise<void> => {
    const error: unknown = await openSealed(Buffer.from('no backup'), { identity: text }).catch((one: unknown) => one);
    words.set(text, error instanceof Error ? error.message : 'it was opened');
  };
  const wrong: string[] = [identity.toLowerCase(), identity.slice(0, -1), `${identity}Q`, `${identity} `, secret];
  for (let at = 0; at < secret.length; at++)
    for (const letter of ['Q', 'X', 'b', '-', 'é'])
      if (letter !== secret[at]) wrong.push(`AGE-SECRET-KEY-1${secret.slice(0, at)}${letter}${secret.slice(at + 1)}`);
  for (const text of wrong) await tried(text);
  for (const [text, message] of words) {
    t.match(message, /cannot be opened/, text);
    const repeated = Array.from({ length: secret.length - 7 }, (_, at) => secret.slice(at, at + 8)).filter((part) =>
      message.toUpperCase().includes(part),
    );
    t.strictSame(repeated, [], message);
  }
});
