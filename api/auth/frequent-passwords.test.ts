import fc from 'fast-check';
import { randomBytes } from 'node:crypto';
import t from 'tap';
import { isCommonPassword } from './frequent-passwords.js';

const seed = Number(process.env['SEED'] ?? 7);
const common = `password1234 Password1234! qwertyuiop12 123456789012 iloveyou1234 letmein12345 Passw0rd2024!
  P@ssw0rd1234
  Welcome2026!! administrator1 gatehouse1234 1q2w3e4r5t6y passwordpassword Summer2026!!! adminadmin12 drowssap1234
  changeme1234 Password zaq12wsxcde3 abc123abc123 football2025 Monkey123456 qazwsxedcrfv asdfghjkl123 abcdefghijkl
  trustno1trustno1 Qwerty123456! 1qaz2wsx3edc qwerqwerqwer Ab1!Ab1!Ab1! adminpassword Passwordadmin1 2026Password!
  !!password!! Pa$$w0rd2025 p4ssw0rd!2023 Pass-word-1234 QWERTYasdfgh1 Winter-2025! 1234qwerasdf 12345678910a`;
const fine = [
  'Quiet-river-stone-41',
  'Brown-bridge-lamp-77',
  'Printed-once-2026',
  'correct horse battery staple',
  'Violet-Anchor-59',
  'sunny-tiger-11',
  'test-password-12',
  'kQ3vXw9LmT2p',
  'the-first-password-4-tests',
];

t.test('common passwords, and common ones with something around them', async (t) => {
  for (const password of common.split(/\s+/)) t.equal(isCommonPassword(password), true, password);
  for (const password of fine) t.equal(isCommonPassword(password), false, password);
});

/** One listed word, however it is written: any digits and signs around and between, again, and in other letters. */
const disguised = [
  ...'football1863 Football1863! Liverpool1892! liverpool-1892 1863football 7391liverpool4821 foot1863ball'.split(' '),
  ...'P4ssw0rd-P4ssw0rd! Passw0rdPassw0rd Password1234Password p@ssw0rd_P4ssword password.1863.password'.split(' '),
  ...'Liverpool/1892/Liverpool! *liverpool*58213 dragon--83157-- p4ssw0rd!P4ssw0rd Dr4gon-dragon-DRAGON'.split(' '),
  ...'contraseña1234 Contraseña-1863 motdepasse-58 Пароль1863 Fóotbäll1863 Ｐassword1863 FOOTBALL_58319_FOOTBALL'.split(
    ' ',
  ),
  'p\u0430ssword1234', // Cyrillic а
  'p\u0430ssw\u043erd1863', // and о
  '\u0420\u0410ssword-58', // Cyrillic capitals
  'passw\u03bfrd1863', // Greek omicron
  '\u0391dministrator1863',
  'dr\u0251gon58319',
  'pass\u200bword1863', // a space without width
  'f\u043e\u043etball1863!',
];
/** Several words that do not belong together, and what is made by chance. */
const honest = [
  ...'Quiet-river-stone-4177 Zephyr-Quill-88-marmot tiger-castle-58-violin Purple-tractor-sings-1863'.split(' '),
  ...'Violet-Anchor-1863 marmot7lantern9 kQ3vXw9LmT2p 7h-Kw3-x9Lp-22 monkey-Lantern-29'.split(' '),
  ...'grün-Kessel-lampe-58 мой-серый-трактор-58 τρία-μικρά-καράβια-7 ленивый-барсук-1863'.split(' '),
  'correct horse battery staple 1863',
  'the football was blue in 1863',
  'three listed words: dragon monkey river',
];

t.test('22 Q13: one listed word in any disguise, and honest phrases', async (t) => {
  for (const password of disguised) t.equal(isCommonPassword(password), true, password);
  for (const password of honest) t.equal(isCommonPassword(password), false, password);
});

t.test('predictable ends, case and repetition hide no common password', async () => {
  const ends = fc.constantFrom('', '1', '12', '123', '1234', '2026', '1999', '!', '!!', '1!', '123!', '.');
  const words = fc.constantFrom('password', 'dragon', 'sunshine', 'gatehouse', 'letmein', 'administrator', 'qwerty');
  const drawn = fc.constantFrom<(text: string) => string>(
    (text) => text,
    (text) => text.toUpperCase(),
    (text) => text.replaceAll('a', '@').replaceAll('o', '0'),
    (text) => text + text,
  );
  fc.assert(
    fc.property(words, drawn, ends, ends, (word, draw, start, end) => isCommonPassword(start + draw(word) + end)),
    { seed },
  );
});

t.test('passwords made by chance are not refused, and none is judged slowly', async (t) => {
  for (let n = 0; n < 2000; n++) {
    const password = randomBytes(12).toString('base64url');
    t.notOk(isCommonPassword(password) && password);
  }
  for (const password of ['1'.repeat(256), 'aA@4'.repeat(64), '!1'.repeat(128), '11!22!a'.repeat(9), '']) {
    const before = process.cpuUsage();
    isCommonPassword(password);
    const { user } = process.cpuUsage(before);
    t.ok(user < 500_000, `${password.slice(0, 8)}: ${user} µs`);
  }
});
