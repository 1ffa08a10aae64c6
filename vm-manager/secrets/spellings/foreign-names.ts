// Names of secrets in other languages. Words that also mean other things there (key, word, code) are left out.

const words = [
  // German, Dutch, Swedish, Danish, Norwegian, Icelandic
  'passwort passwörter kennwort kennwörter losungswort geheimzahl geheimnis zugangsdaten ' +
    'zugangsschlüssel geheimschlüssel',
  'wachtwoord geheim wachtzin lösenord hemlighet adgangskode kodeord passord lykilorð',
  // French, Spanish, Catalan, Portuguese, Galician, Italian, Romanian
  'mot·de·passe motdepasse mdp clé·secrète clé·privée clé·api phrase·de·passe jeton·d.accès contraseña contrasenya',
  'clave·secreta clave·privada clave·de·acceso clave·de·api secreto senha palavra·passe palavra·chave chave·secreta',
  'chave·de·acesso contrasinal parola·d.ordine parola·chiave chiave·segreta chiave·privata chiave·api parolă parola',
  // Polish, Czech, Slovak, Hungarian, Croatian, Slovenian, Lithuanian, Latvian, Estonian, Finnish, Turkish, Greek
  'hasło heslo jelszó lozinka zaporka geslo slaptažodis parool salasana şifre parola ' +
    'klucz·tajny κωδικός·πρόσβασης κωδικός συνθηματικό',
  // Russian, Ukrainian, Bulgarian, Serbian
  'пароль секрет секретный·ключ парола лозинка тајна',
  // Chinese, Japanese, Korean, Vietnamese, Thai, Indonesian, Hindi, Arabic, Persian, Hebrew
  '密码 密碼 口令 密钥 密鑰 パスワード 暗証番号 秘密鍵 合言葉 비밀번호 암호 패스워드 비밀키 mật·khẩu รหัสผ่าน kata·sandi पासवर्ड',
  'كلمة·المرور كلمة·السر رمز·عبور گذرواژه סיסמה סיסמא',
]
  .join(' ')
  .split(' ');

/** An accent may be there, be a character of its own, or be left out: `contraseña`, `contrasena`. */
function spelled(word: string): string {
  return [...word]
    .map((char) => {
      const [plain = char, ...marks] = [...char.normalize('NFD')];
      if (char === '·') return '[-_. ]?';
      if (char === 'ł') return '[łl]';
      return marks.length === 0 || !/[a-zα-ω]/i.test(plain) ? char : `(?:${char}|${plain}${marks.join('')}|${plain})`;
    })
    .join('');
}

export const foreignNames = words.map(spelled).join('|');
/** Up to a character that may be missing. */
export const foreignWords = words
  .map((word) => word.split('·')[0] ?? word)
  .flatMap((word) => [word, word.replace('ł', 'l')]);
export const foreignName = new RegExp(foreignNames, 'i');
