// Secrets in commands and code, for tests: § stands for the secret.

export const commands: readonly string[] = `
mysql -u root -p§ db
mysqldump --single-transaction -uroot -p§ shop > shop.sql
mysqladmin -h db -u root -p'§' status
MYSQL=1 /usr/bin/mysql -h 10.0.0.1 -p"§" -e 'select 1'
mariadb -uroot -p§
os.system("mysql -u root -p§ shop")
subprocess.run(["mysql", "-u", "root", "-p§", "shop"])
7z a -t7z -mhe=on -p§ out.7z dir
7za x -p§ in.7z
rar a -hp§ out.rar dir
sshpass -p § ssh me@host
sshpass -p'§' scp a b
exec.Command("sshpass", "-p", "§", "ssh", "h")
redis-cli -h cache -a § ping
redis-cli -a "§" --no-auth-warning info
redis-cli --pass § ping
docker login -u me -p § registry.example
docker login --username me --password § registry.example
podman login -u me -p '§' quay.example
helm registry login -u me -p § h
skopeo copy --src-creds me:§ docker://a docker://b
echo § | docker login --password-stdin -u me
echo "§" | docker login -u me --password-stdin
printf '%s' '§' | helm registry login -u me --password-stdin h
echo '§' | sudo -S apt install x
echo § | su - root -c id
echo -n § | kinit me@REALM
echo 'me:§' | chpasswd
echo "root:§" | sudo chpasswd
echo "§" | passwd --stdin me
echo '§' | gpg --batch --passphrase-fd 0 -d x
echo "§" | gh auth login --with-token
chpasswd <<< "me:§"
passwd --stdin me <<< '§'
net use z: \\\\server\\share /user:me §
net use \\\\server\\share § /user:DOM\\me
net user bob § /add
openssl enc -aes-256-cbc -k § -in a -out b
openssl enc -aes-256-cbc -pass pass:§ -in a
openssl rsa -passin pass:§ -in key.pem -out out.pem
openssl pkcs12 -export -passout 'pass:§' -out x.p12
apksigner sign --ks k.jks --ks-pass pass:§ a.apk
openssl passwd -6 -salt ab §
smbclient -U me%§ //h/s
smbclient //h/s -U 'DOM/me%§'
rpcclient -U "me%§" 10.0.0.1
net ads join -U admin%§
ldapsearch -x -D cn=admin,dc=x -w § -b dc=x
ldapmodify -D cn=a -w '§' -f x.ldif
ldappasswd -s § uid=me
snmpwalk -v2c -c § 10.0.0.1 system
snmpget -v 3 -u me -l authPriv -a SHA -A § -x AES -X other 10.0.0.1
snmpget -v 3 -u me -l authPriv -a SHA -x AES -X § 10.0.0.1
htpasswd -b .htpasswd me §
htpasswd -cb /etc/apache2/.htpasswd me §
htpasswd -nbB me §
mosquitto_passwd -b file me §
useradd -m -p § me
usermod -p '§' me
useradd --password § me
kubectl create secret generic x --from-literal=k=§
kubectl create secret generic x --from-literal=user=a --from-literal=password='§'
oc create secret generic x --from-literal "k=§"
kubectl create secret docker-registry r --docker-password=§
psql "host=h user=u password=§"
PGPASSWORD=§ psql -h h
PGPASSWORD='§' pg_dump shop
mongo -u me -p § admin
mongosh --username me --password § h
mongodump -u me -p=§ --out d
rabbitmqctl add_user me §
rabbitmqctl change_password me '§'
rabbitmqadmin -u me -p § list queues
curl -u me:§ https://h
curl -ume:§ https://h
curl --proxy-user me:§ https://h
curl -U 'me:§' -x p https://h
curl --cert c.pem:§ https://h
curl -H 'X-Auth-Token: §' https://h
wget --user me --password § https://h
wget --ftp-password=§ ftp://h
svn co --username me --password § https://h/svn
hg pull --config auth.x.password=§
az login -u me -p § --tenant t
az login --service-principal -u id --password=§
az vm create --admin-password § -n x
aws configure set aws_secret_access_key §
aws rds create-db-instance --master-user-password § --x
gcloud sql users set-password me --password=§
cf login -u me -p §
oc login -u me -p § https://h
ansible-vault encrypt_string '§' --name db
ansible-playbook -e "ansible_become_pass=§" x.yml
zip -P § -r a.zip d
zip -r -P'§' a.zip d
unzip -P § a.zip
gpg --batch --passphrase § -c f
gpg --passphrase="§" -c f
keytool -genkey -alias a -storepass § -keystore k
keytool -importkeystore -srcstorepass aaa -deststorepass § -keystore k
keytool -keypass '§' -keystore k
jarsigner -keystore k -storepass § a.jar b
signtool sign /f c.pfx /p § a.exe
msbuild x.proj /p:Password=§ /t:Build
msbuild x.proj /p:DeployUser=a;DbPassword=§
sqlcmd -S h -U sa -P § -Q "select 1"
sqlcmd -S h -U sa -P"§"
bcp db.dbo.t out f -S h -U sa -P§
isql mydsn sa § -b
tsql -H h -U sa -P §
mosquitto_pub -h h -u me -P § -t a -m b
xfreerdp /u:me /p:§ /v:h
cmdkey /add:h /user:me /pass:§
schtasks /create /ru me /rp § /tn t
wmic /node:h /user:me /password:§ process list
psexec \\\\h -u me -p § cmd
plink -ssh -pw § me@h
pscp.exe -pw "§" a me@h:/b
send "§\\r"
expect "*?assword:*" { send "§\\r" }
expect "Password:"; send -- "§\\n"
lftp -u me,§ sftp://h
lftp -u me,'§' h
user me §
quote PASS §
nmcli dev wifi connect home password §
nmcli con modify w wifi-sec.psk "§"
wpa_passphrase home §
wpa_passphrase "my net" '§'
ipmitool -I lanplus -H h -U ADMIN -P § power status
impacket-psexec DOM/me:§@10.0.0.1
psexec.py me:'§'@10.0.0.1
secretsdump.py DOM/me:§@10.0.0.1
GetUserSPNs.py DOM/me:§ -dc-ip 10.0.0.1
crackmapexec smb 10.0.0.1 -u me -p §
evil-winrm -i h -u me -p '§'
hydra -l me -p § ssh://h
sqlplus me/§@orcl
sqlplus -s "me/§@//h:1521/x" @q.sql
db2 connect to shop user me using §
ssh-keygen -t ed25519 -N § -f k
security unlock-keychain -p § login.keychain
security add-generic-password -a me -s x -w §
vault kv put secret/x k=§
vault login §
mc alias set s https://h me §
bw unlock '§'
dotnet user-secrets set "Db:Key" "§"
dotnet nuget push a.nupkg -k § -s h
npm config set //r.example/:_authToken §
composer config http-basic.repo.example me §
twine upload -u me -p § dist/*
New-LocalUser -Name me -Password (ConvertTo-SecureString "§" -AsPlainText -Force)
Set-ADAccountPassword -NewPassword §
x11vnc -passwd § -forever
java -Djavax.net.ssl.keyStorePassword=§ -jar a.jar
java -jar a.jar --db-pass § --x
CMD ["redis-server", "--requirepass", "§"]
restic --password-command x --pass=§
sudo cryptsetup luksOpen /dev/sda x <<< '§'
pdftk a.pdf output b.pdf user_pw §
net use Z: https://dav.example/x § /user:me
net use z: https://dav.example/x /user:me §
NET.EXE USE * \\\\srv\\c$ "§" /USER:me
net use "\\\\srv\\my share" § /user:me
net use "\\\\srv\\my share" /user:"corp\\my user" §
net use /persistent:yes z: \\\\srv\\x /user:me §
net.exe user me § /add /domain
rasdial vpn me §
bitsadmin /setcredentials job SERVER BASIC me §
sc.exe create svc binPath= x obj= corp\\d password= "§"
reg add HKLM\\x /v DefaultPassword /t REG_SZ /d § /f
autologon me corp §
smbclient //srv/x § -U me
mount -t cifs //srv/x /mnt -o username=me,password=§
mount -t cifs //srv/x /mnt -o user=me%§
isql -U sa -P § -S srv
export DB_PASS=§
setx DB_PASSWORD §
ansible-playbook a.yml -e ansible_password=§
`
  .trim()
  .split('\n');

export const code: readonly string[] = `
CREATE USER me IDENTIFIED BY '§'
create user 'me'@'%' identified with mysql_native_password by '§';
GRANT ALL ON *.* TO me IDENTIFIED BY "§";
ALTER USER scott IDENTIFIED BY §;
ALTER ROLE me WITH PASSWORD '§'
CREATE ROLE me LOGIN ENCRYPTED PASSWORD '§';
CREATE LOGIN me WITH PASSWORD = N'§';
CREATE USER me PASSWORD '§';
SET PASSWORD FOR 'me'@'h' = PASSWORD('§');
SELECT AES_ENCRYPT(x, '§');
SELECT pgp_sym_encrypt(data, '§');
EXEC sp_addlogin 'me', '§'
ConvertTo-SecureString '§' -AsPlainText -Force
ConvertTo-SecureString -String "§" -AsPlainText
ConvertTo-SecureString § -AsPlainText -Force
HTTPBasicAuth('me', '§')
requests.get(u, auth=HTTPBasicAuth("me", "§"))
requests.get(u, auth=('me', '§'))
auth=("me","§")
auth: ['me', '§'],
credentials = ('me', '§')
CREDENTIALS = ["me", "§"]
creds = ('me', b'§')
login('me', '§')
smtp.login("me@example.org", "§")
server.login(user, "§")
ftp.login('me', passwd='§')
session.authenticate("me", "§")
new SecretKeySpec("§".getBytes(), "AES")
new SecretKeySpec("§".getBytes(StandardCharsets.UTF_8), "HmacSHA256")
new PBEKeySpec("§".toCharArray(), salt, 1000, 256)
DriverManager.getConnection(url, "me", "§")
DriverManager.getConnection("jdbc:x://h/x", "me", "§");
new NetworkCredential("me", "§")
new NetworkCredential("me", "§", "DOM")
new PasswordAuthentication("me", "§".toCharArray())
new UsernamePasswordCredentials("me", "§")
Fernet(b'§')
Fernet("§")
jwt.sign(payload, '§')
jwt.sign({ id: user.id }, "§", { expiresIn: '1h' })
jwt.verify(token, '§')
jwt.encode(payload, '§', algorithm='HS256')
JWT.decode(token, "§", true)
Algorithm.HMAC256("§")
Jwts.builder().signWith(SignatureAlgorithm.HS512, "§")
Keys.hmacShaKeyFor("§".getBytes())
createCipheriv('aes-256-cbc', '§', iv)
crypto.createDecipheriv(algorithm, Buffer.from('§'), iv)
crypto.createHmac('sha256', '§')
crypto.pbkdf2Sync('§', salt, 1, 64, 'sha512')
crypto.scryptSync("§", 'salt', 24)
CryptoJS.AES.encrypt(text, '§')
hmac.new(b'§', msg, hashlib.sha256)
AES.new(b'§', AES.MODE_CBC)
openssl_encrypt($d, 'aes-256-cbc', '§')
hash_hmac('sha256', $d, '§')
set_password('§')
user.set_password("§")
user.setPassword("§");
mysqli_connect($h, $u, '§')
mysqli_connect("localhost", "root", "§", "shop");
new mysqli("localhost", "root", "§", "shop");
new PDO('mysql:host=h', 'root', '§');
pg_connect("host=h user=u password=§")
paramiko.connect(h, username='me', password='§')
ssh.connect("10.0.0.1", 22, "me", "§")
imap_open("{h}", "me", "§")
ssh2_auth_password($c, 'me', '§')
ldap.simple_bind_s("cn=a", "§")
keyring.set_password("svc", "me", "§")
ks.load(in, "§".toCharArray())
os.environ.setdefault('SECRET_KEY', '§')
os.getenv("DB_PASSWORD", "§")
import.meta.env.DB_PASSWORD || '§'
import.meta.env['API_TOKEN'] ?? "§"
System.setProperty("javax.net.ssl.keyStorePassword", "§");
props.put("password", "§");
Map.of("password", "§")
password: String = "§"
val dbPassword: String = "§"
let password: &str = "§";
password: str = "§"
var password string = "§"
char password[] = "§";
static const char *password = "§";
wchar_t* pwd = L"§";
Password = @"§"
if (password === "§") {}
if (password !== '§') return
if password == "§":
if (password.equals("§"))
if ("§".equals(password))
if ('§' === password)
if (strcmp(pass, "§") == 0)
password <- "§"
my $password = $ENV{PASSWORD} || '§';
password = ENV['PASSWORD'] or '§'
PASSWORD = base64.b64decode("§")
String password = new String("§");
let secret = Some("§");
page.fill('#password', '§')
driver.find_element_by_id("password").send_keys("§")
cy.get('input[name=password]').type('§')
@Value("\${db.password:§}")
app.secret_key = '§'
session({ secret: '§' })
cookieParser('§')
URLSafeTimedSerializer("§")
PIN = '936427'
pin_code: 936427
otp = "936427"
TOKEN ?= §
DB_PASSWORD ?= §
password==>§
password[0]=§
&quot;password&quot;:&quot;§&quot;
&#34;client_secret&#34;: &#34;§&#34;
password=&quot;§&quot;
&lt;password&gt;§&lt;/password&gt;
val apiSecret = """§"""
API_KEY = '''§'''
auto password = R"(§)";
$password = q{§};
password: %q(§)
`
  .trim()
  .split('\n');
