// Secrets in files of settings and beside words of other languages, for tests: § stands for the secret.

export const settings: readonly string[] = `
<add key="DbPassword" value="§" />
<add value="§" key="DbPassword"/>
<property name="hibernate.connection.password" value="§"/>
<property name="db.password">§</property>
<entry key="smtp.password">§</entry>
pаssword=§
pаѕswоrd: "§"
sеcret_key = '§'
P a s s w o r d : §
A P I k e y = "§"
/reset-password/§Lz7Q
GET /login/magic/§Lz7Q HTTP/1.1
password = "Quarzsand7" + "§"
$password = 'Quarzsand7' . '§';
password = "Quarzsand7" & "§" & "§"
{"kind": "Secret", "stringData": {"foo": "§"}}
<setting name="ApiKey" serializeAs="String"><value>§</value></setting>
<key>password</key><string>§</string>
<key>ClientSecret</key>⏎  <string>§</string>
<Password>§</Password>
<Pass encoding="base64">§</Pass>
<wsse:Password Type="text">§</wsse:Password>
<db-password><![CDATA[§]]></db-password>
<dbPass>§</dbPass>
<Parameter name="password" value="§" override="false"/>
<input type="password" name="pw" value="§">
<bean><property name="password"><value>§</value></property></bean>
ENV DB_PASS §
ENV DB_PASSWORD=§
ARG NPM_TOKEN=§
ENV SECRET_KEY "§"
SetEnv DB_PASSWORD §
setenv DB_PASS §
fastcgi_param DB_PASSWORD §;
setx API_TOKEN "§"
set DB_PASS=§
$env:DB_PASS = "§"
export DB_PASS='§'
machine h login me password §
machine api.example⏎  login me⏎  password §
default login anonymous password §
passphrase §
passphrase "§"
community string §
SNMP community string: §
snmp-server community § RO
rocommunity § 10.0.0.0/8
com2sec readonly default community §
requirepass §
masterauth §
auth_pass §
bindpw §
rootbindpw §
AuthLDAPBindPassword "§"
enable secret 5 §
enable password §
username admin privilege 15 secret 0 §
neighbor 10.0.0.1 password §
radius-server key §
ip ospf message-digest-key 1 md5 §
key-string §
name: DB_PASSWORD⏎value: §
        - name: DB_PASSWORD⏎          value: §
- name: "API_TOKEN"⏎  value: "§"
env:⏎  - {name: DB_PASS, value: §}
{"name": "DB_PASSWORD", "value": "§"}
{"ParameterKey":"DbPassword","ParameterValue":"§"}
ParameterKey=DbPassword,ParameterValue=§
environment { name = "DB_PASSWORD" value = "§" }
{ name = "DB_PASSWORD", value = "§" }
variable "db_password" {⏎  type = string⏎  default = "§"⏎}
password = "§"
[db]⏎password=§
[db]⏎pass = §
db.password: §
secret_key_base: §
psk="§"
wpa_psk=§
wpa_passphrase=§
network={⏎  ssid="x"⏎  psk="§"⏎}
PresharedKey = §
wep_key0=§
: PSK "§"
me : XAUTH "§"
"me" * "§" *
me * § *
db.example:5432:shop:me:§
*:*:*:postgres:§
localhost:5432:*:me:§
jdbc:oracle:thin:scott/§@h:1521:x
jdbc:sqlserver://h;user=sa;password=§;x=y
jdbc:mysql://h/x?user=me&password=§
me:§@tcp(db:3306)/shop
mount -t cifs //me:§@h/s /mnt
mount -t cifs //h/s /mnt -o username=me,password=§
amqp://me:§@mq:5672/
Server=h;Uid=sa;Pwd=§;
DSN=x;UID=sa;PWD=§
_password=§
MYSQL_ROOT_PASSWORD: "§"
REDIS_PASS=§
"pass": "§"
"auth": {"user": "me", "pass": "§"}
\${DB_PASSWORD:-§}
password: \${DB_PASSWORD:§}
token: §
x-api-key: §
`
  .trim()
  .split('\n')
  .map((line) => line.replaceAll('⏎', '\n'));

export const languages: readonly string[] = `
Passwort: §
passwort = "§"
Kennwort: §
"kennwort": "§"
Das Passwort lautet §
db_passwort=§
$passwort = '§';
Geheimnis = "§"
mot_de_passe = "§"
mot de passe : §
motDePasse = '§'
Mot de passe: §
mdp = "§"
$mdp='§';
contraseña = '§'
contrasena = "§"
la contraseña es §
"contraseña": "§"
contrasen\u0303a = '§'
clave_secreta: '§'
senha = "§"
Senha: §
palavra-passe: §
parola d'ordine: §
parola_chiave = "§"
wachtwoord: §
Wachtwoord = "§"
lösenord: §
losenord = '§'
passord = "§"
adgangskode: §
salasana = "§"
hasło = "§"
haslo: §
HASLO=§
heslo = "§"
jelszó: §
lozinka = "§"
şifre = "§"
sifre: §
parola = "§"
пароль: §
Пароль = "§"
ПАРОЛЬ: §
секрет = '§'
лозинка: §
密码: §
密码：§
密码是§
密碼 = "§"
用户密码：§
口令=§
パスワード: §
パスワード「§」
パスワードは§
暗証番号: 936427
비밀번호: §
비밀번호는 §
암호 = "§"
mật khẩu: §
รหัสผ่าน: §
kata sandi: §
كلمة المرور: §
סיסמה: §
κωδικός = "§"
`
  .trim()
  .split('\n');
