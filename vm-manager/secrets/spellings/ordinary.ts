// Texts without a secret, for tests: none of them may change.

export const ordinaryTexts: readonly string[] = `
TOKEN ?= $(shell cat token)
TOKEN ?=
A B C: the three classes
пароль и password
/reset-password/confirmation
src/token/SecretStore2Test
/api/token/oauth2login
lib/secret/vault-client-2/index
password + "characters"
stringData: map[string]string
{"stringData": {"foo": "$(FOO)"}}
tokens[0]=first
password[0] = input
&quot;password&quot;:&quot;&quot;
&lt;password&gt;&lt;/password&gt;
const token = """"""
password ==> required
secret = query{x}
login('form')
login('me')
login('/admin', 'Login')
login(username, password)
login(user, getPassword())
auth = None
auth=(user, password)
auth = ('jwt', 'basic')
auth: ['jwt', 'local']
credentials = (user, pw)
credentials: 'include'
credentials: 'same-origin'
docker run -p 8080:80 image
docker run -p 80:80 -v /a:/b image
docker run --rm -p 127.0.0.1:8080:80 nginx
docker compose -p shop up
podman run -p 443:8443 x
mkdir -p build
mkdir -p build/password/tokens
cp -p a b
tar -xk
tar -xzf archive.tar.gz -C /opt
grep -w word
grep -rw password src
ssh -p 2222 me@host
scp -P 2222 a me@h:/b
mysql -u root -p
mysql -u root -p shop
mysql -u root -p -h db shop
mysql -P 3306 -h 127.0.0.1
mysqldump -u root -p shop > shop.sql
mysql --protocol=tcp
psql -h h -p 5432 -U me shop
redis-cli -h h -p 6379
redis-cli -a "$REDIS_PASSWORD" ping
sshpass -p "$PASS" ssh h
sshpass -e ssh h
sshpass -f file ssh h
docker login -u me -p "\${TOKEN}" h
docker login -u me -p $TOKEN h
docker login -u me -p $(cat token) h
echo $PASSWORD | docker login --password-stdin
echo "$TOKEN" | docker login -u me --password-stdin
echo hello | grep world
echo hello | sudo tee /etc/file
openssl req -new -key a.pem -out a.csr
openssl rsa -in key.pem -passin file:pass.txt
openssl rsa -in key.pem -passin env:PASS
openssl s_client -connect h:443
ldapsearch -x -W -D cn=admin
ldapsearch -x -b dc=example
snmpwalk -v2c -c public 10.0.0.1
curl -u "$USER:$PASS" https://h
curl -u me https://h
curl -X POST -d @body.json https://h
curl -o out.txt https://h
curl -k https://h
net use z: \\\\server\\share
net use * /delete
net user bob /delete
net user administrator /active:no
useradd -m -s /bin/bash me
unzip -p a.zip file.txt
unzip -o a.zip -d dir
zip -r a.zip dir
7z x a.7z -oout
kubectl create secret generic x --from-file=k=./file
kubectl create secret generic x --from-literal=k=$VALUE
kubectl get secret x -o yaml
kubectl -n kube-system get pods
ansible-playbook --ask-pass site.yml
ansible-playbook --ask-become-pass site.yml
ansible-vault encrypt secrets.yml
vault kv get secret/x
vault login -method=oidc
gpg --passphrase-file p.txt -d x
gpg --passphrase "$PASS" -d x
keytool -list -keystore k.jks
sqlcmd -S h -E -Q "select 1"
htpasswd -c .htpasswd me
send "yes\\r"
send "exit\\r"
res.send("Hello world")
user clicks the button
user me logs in
PASS if all tests succeed
PASS src/components/button.test.ts
the PASS file1 is read
use --password to set the password
with the -p option of sshpass
Pass the password with sshpass -p option.
npm install --save-dev typescript
git commit -m "token refresh"
git push origin main
find . -name "*.key" -type f
chmod 600 id_rsa
the token endpoint returns a token
the /token endpoint is open
az webapp create -p plan1 -n app
java -jar app.jar --spring.profiles.active=prod
msbuild x.sln /p:Configuration=Release /t:Build
<add key="PasswordPolicy" value="Strong" />
<add key="TokenLifetime" value="3600" />
<add key="DbPassword" value="" />
<add key="DbPassword" value="\${DB_PASSWORD}" />
<property name="password_file" value="/run/secrets/db"/>
<property name="color" value="red1234"/>
<key>CFBundleName</key><string>MyApp2024</string>
<input type="password" name="pw" placeholder="Password">
<label for="password">Password</label>
<input type="text" name="user" value="admin2024">
<string name="app_name">Shop24app</string>
ENV NODE_VERSION 20.1.0
ENV PATH /usr/local/bin:$PATH
ENV DB_PASSWORD_FILE /run/secrets/db
ARG VERSION=1.2.3
name: DB_PASSWORD⏎valueFrom:⏎  secretKeyRef:⏎    name: db⏎    key: password
name: DB_HOST⏎value: db.example2.org
name: token_url⏎value: https://h.example/token
name: password⏎in: query⏎required: true
name: password⏎type: string
machine learning login page password field
machine h login me password
community string
the community string is readable
the default SNMP community string public
community edition 10.2
a community guide
passphrase is required
passphrase too short
PIN of a connector
PIN 7 of the connector is not connected
pin = 13
pin: A1
const pin = pins[3];
pin 12 is an input
the PIN must have four digits
pinMode(13, OUTPUT)
code 404
error code: 500123
status code 200
otp length is 6
one-time code of six digits
jwt.sign(payload, secret)
jwt.sign(payload, import.meta.env.JWT_SECRET, { expiresIn: '1h' })
jwt.sign(payload, privateKey, { algorithm: 'RS256' })
jwt.verify(token, getKey, options)
jwt.decode(token, options={"verify_signature": False})
createCipheriv('aes-256-cbc', key, iv)
crypto.createHmac('sha256', key)
crypto.createHash('sha256').update('abc')
Fernet(key)
Fernet.generate_key()
new SecretKeySpec(key.getBytes(), "AES")
new SecretKeySpec(bytes, "HmacSHA256")
"0123456789abcdef".toCharArray()
"hello".toCharArray()
new PDO($dsn, $user, $password)
new PDO("sqlite:db.sqlite")
DriverManager.getConnection(url, user, password)
DriverManager.getConnection("jdbc:h2:mem:test")
mysqli_connect($host, $user, $pass)
socket.connect("example.org", 443, "tls")
connect('localhost', 8080)
store.load("users", "page2")
signal.connect("clicked", "handler", "on_click")
set_password(password)
user.setPassword(request.getParameter("password"))
setPassword(encoder.encode(raw))
HTTPBasicAuth(user, password)
HTTPBasicAuth(os.environ["USER"], os.environ["PASS"])
new NetworkCredential(user, password)
new PasswordAuthentication(username, password)
auth("google", "callback")
authenticate('local', 'jwt')
passport.authenticate('jwt', { session: false })
passport.authenticate("google", "profile")
addUser("name", "email")
Credentials("username", "password")
createUser("alice", "admin")
hash('md5', $x)
hash("sha256", data)
bcrypt.compare(password, user.hash)
ConvertTo-SecureString $pw -AsPlainText -Force
ConvertTo-SecureString is used
Read-Host -AsSecureString
IDENTIFIED BY $password
users are identified by their e-mail address
The user is identified by 'userId'
Each row is identified by id
CREATE USER me IDENTIFIED BY :pw
ALTER ROLE me WITH PASSWORD :'pw'
ALTER ROLE me WITH PASSWORD %s
WITH PASSWORD protection
if (password === confirmPassword) {}
if (password === "") {}
if (password !== null) return
password || ''
import.meta.env.TOKEN ?? ''
password.equals(other)
password.length === 0
const token = req.headers['x-access-token'] || req.query.token
const password: string = input.value
password: String? = null
let password: &str;
func login(user string, password string) error
page.fill('#password', password)
page.click('#password', 'left')
label.password = "Password"
"password": "Password"
"password": "Passwort"
"passwort": "Passwort"
"passwort": "Neues Passwort"
"contraseña": "Contraseña"
password: 'Contraseña'
"mot_de_passe": "Mot de passe"
Das Passwort ist zu schwach
Das Passwort muss mindestens acht Zeichen lang sein.
Das Passwort wird im Klartext gespeichert
Passwort: erforderlich
Passwort: mindestens 12 Zeichen
Passwortlänge: 12
Passwortrichtlinie: streng
Geheimnisse gehören nicht in den Quelltext
Der Schlüssel: wird bei jedem Start erzeugt
Le mot de passe est trop court
Le mot de passe est stocké en clair
Mot de passe : obligatoire
mot de passe oublié
La contraseña es demasiado corta
La contraseña se guarda sin cifrar
Contraseña: requerida
A senha é armazenada em texto claro
A resenha: publicada2024 ontem
La parola: una sequenza di lettere
La password viene salvata in chiaro
Het wachtwoord is te kort
Hasło jest zbyt krótkie
Heslo je příliš krátké
Пароль хранится в открытом виде
Пароль: обязателен
密码不能为空
密码长度必须大于8
パスワードを入力してください
비밀번호를 입력하세요
src/a.c:12:5:error:undefined
src/auth/login.ts:1024:17: error: missing token
Error: connect ECONNREFUSED 127.0.0.1:5432
GET /api/v1/users/42/tokens HTTP/1.1
https://example.org/docs/passwords/rotation
https://example.org:8443/login?next=/home
postgres://db.example:5432/shop
git@github.com:owner/repository.git
me@example.org:8080
ssh://git@host.example/a.git
S2068: Hard-coded credentials are security-sensitive
CWE-798: Use of Hard-coded Credentials
B105: hardcoded_password_string
G101: Potential hardcoded credentials
rule-id: generic-api-key
password sha256 hashing
password PBKDF2 is used
token OAuth2 flow
secret S6437 of Sonar
password base64 encoded
token v2 is used
Token JWT is not checked
password reset token CVE-2024-12345
secret scanning v8.18.2
the password field user1 is empty
A secret in line 42
A token of type Bearer2
password on line 17 column 4
Private key 2048 bits is too short
API key rotation every 90d
The passphrase of key1 is weak
access key AKIA is used
Upgrade to version 1.2.3 or later
npm WARN deprecated request@2.88.2
sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855
\${DB_PASSWORD}
\${DB_PASSWORD:-}
\${DB_PASSWORD:?must be set}
password: \${DB_PASSWORD}
password = var.db_password
password = data.vault_secret.db.value
variable "db_password" { type = string }
variable "instance_type" { default = "t3.micro" }
{"name": "DB_HOST", "value": "db2.example"}
{"name": "token_type", "value": "bearer2"}
a * b * c
<add key="Compass" value="North2024" />
the password = base64.b64decode(text)
"a" * "b2" * c
total * 2 * 3
- * 10.0.0.1 *
char password[64];
char password[MAX_LEN] = {0};
const passwordRegex = /^[a-z]+$/;
def login(user, password):
$price = '$100'
cost: $12
1,000:2,000:3,000
12:34:56
00:1A:2B:3C:4D:5E
fe80::1:2:3
`
  .trim()
  .split('\n')
  .map((line) => line.replaceAll('⏎', '\n'));
