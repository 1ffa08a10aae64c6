import { Decrypter, Encrypter } from 'age-encryption';
import t from 'tap';
import { createKey, openSealed, sealText } from './seal.js';

const [text, passphrase] = ['what is in a backup', 'six words that nobody else knows'];

t.test('a passphrase is one for every program that reads the format', async (t) => {
  let turns = 0;
  let isSealed = false;
  const turn = (): void => {
    turns += 1;
    if (!isSealed) setTimeout(turn, 1);
  };
  turn();
  const sealed = await sealText(text, { passphrase });
  isSealed = true;
  t.ok(turns > 3, `everything else goes on meanwhile: ${turns} turns`);
  t.match(Buffer.from(sealed).toString('latin1'), /^age-encryption\.org\/v1\n-> scrypt [\w+/]{22} 18\n/);
  t.equal(await openSealed(sealed, { passphrase }), text);
  const library = new Decrypter();
  library.addPassphrase(passphrase);
  t.equal(await library.decrypt(sealed, 'text'), text, 'the library opens what was sealed here');
  const other = new Encrypter();
  other.setPassphrase(passphrase);
  other.setScryptWorkFactor(10);
  const theirs = await other.encrypt(text);
  t.equal(await openSealed(theirs, { passphrase }), text, 'and what it seals is opened here');
  await t.rejects(openSealed(theirs, { passphrase: `${passphrase}.` }), /cannot be opened.*no identity matched/);
  const { identity, recipient } = await createKey();
  const forKey = await sealText(text, { recipients: [recipient] });
  await t.rejects(openSealed(forKey, { passphrase }), /no identity matched/, 'there is no passphrase in it');
  await t.rejects(openSealed(theirs, { identity }), /no identity matched/, 'nor a key in the other');
});

t.test('a header that asks for too much, or is none, is refused before anything is tried', async (t) => {
  const made = new Encrypter();
  made.setPassphrase(passphrase);
  made.setScryptWorkFactor(10);
  const theirs = Buffer.from(await made.encrypt(text)).toString('latin1');
  const stanza = /-> scrypt (\S+) 10\n(\S+)\n/;
  const [whole = '', salt = '', body = ''] = stanza.exec(theirs) ?? [];
  for (const [changed, message] of [
    [`-> scrypt ${salt} 21\n${body}\n`, /too high/],
    [`-> scrypt ${salt} 010\n${body}\n`, /not written as it should be/],
    [`-> scrypt ${salt.slice(4)} 10\n${body}\n`, /not written as it should be/],
    [`-> scrypt ${salt} 10 more\n${body}\n`, /not written as it should be/],
    [`-> scrypt ${salt} 10\n${body.slice(4)}\n`, /wrong length/],
    [`${whole}${whole}`, /not the only recipient/],
  ] as const) {
    const wrong = Buffer.from(theirs.replace(whole, changed), 'latin1');
    await t.rejects(openSealed(wrong, { passphrase }), message, changed);
  }
});

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
