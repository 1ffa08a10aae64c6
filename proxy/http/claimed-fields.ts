// Fields by which what stands in front of an application tells it where a client is, who it is, or which scheme, host
// and path it really asked for (CWE-290, CWE-348): an upstream believes them of every sender. One row a product;
// names as that product writes them, in lower case, `*` for any rest. Fields that carry a proof of their own are listed
// too, for applications that read them without looking at it; what clients send by themselves is not (X-Access-Token,
// X-User-Id, X-Auth-User of OpenStack, Impersonate-* of kubectl).

const rows: Readonly<Record<string, string>> = {
  'any proxy':
    'forwarded forwarded-for x-forwarded x-forwarded-* x-real-* x-client-ip client-ip x-cluster-client-ip ' +
    'true-client-ip x-true-client-ip proxy-client-ip x-proxyuser-ip x-originating-ip x-remote-* remote-* ' +
    'http-remote-* ' +
    'x-http-remote-* x-host x-http-host-override x-scheme x-url-scheme x-https x-ssl front-end-https ' +
    'x-original-* x-rewrite-url x-script-name script-name x-replaced-path x-replaced-query',
  'Envoy, Istio': 'x-envoy-*',
  'single sign-on (oauth2-proxy, Authelia, authentik, Grafana, Pomerium, Vouch, Dex, Teleport, Tailscale)':
    'x-auth-request-* gap-auth x-authentik-* x-webauth-* x-pomerium-* x-vouch-* x-dex-* teleport-* ' +
    'tailscale-* kubeflow-userid x-auth-email x-auth-groups x-auth-roles x-auth-subject x-authenticated-* ' +
    'x-token-subject x-token-user* x-token-roles x-token-groups x-token-email x-token-name x-userinfo ' +
    'x-auth-username x-auth-userid x-auth-given-name x-auth-family-name x-auth-name x-auth-audience x-auth-expiresin ' +
    'x-auth-claim-* x-auth-user-* cas-*',
  'Apache: mod_auth_openidc, mod_auth_mellon, Shibboleth':
    'oidc-* oidc_* mellon-* mellon_* shib-* ajp-* ajp_* ' +
    'eppn affiliation unscoped-affiliation entitlement persistent-id targeted-id',
  'SiteMinder, IBM Verify Access': 'sm-* sm_* smuser iv-* iv_*',
  'Oracle Access Manager and single sign-on': 'oam-* oam_* osso-* proxy-remote-*',
  'WebSphere plug-in': '$ws*',
  Linkerd: 'l5d-client-* l5d-remote-*',
  'Apache NiFi': 'x-proxiedentit* x-proxycontextpath x-proxyhost x-proxyport x-proxyscheme',
  CouchDB: 'x-auth-couchdb-*',
  'WSO2 API Manager': 'x-jwt-assertion',
  'Next.js behind its own router': 'x-matched-path x-invoke-* x-now-route-matches',
  Zope: 'x-vhm-*',
  'OpenSearch and Elasticsearch behind a proxy': 'x-proxy-user x-proxy-roles x-proxy-ext-*',
  'AD FS proxy': 'x-ms-proxy x-ms-forwarded-client-ip x-ms-endpoint-absolute-path',
  Kong: 'x-consumer-* x-credential-* x-anonymous-consumer',
  WebLogic: 'wl-proxy-*',
  Cloudflare: 'cf-connecting-* cf-access-* cf-visitor cf-ipcountry cf-pseudo-* cf-worker',
  'Fastly, Fly, Vercel, Netlify': 'fastly-client-* fastly-ssl fly-* x-vercel-* x-nf-*',
  'Akamai, Imperva, Sucuri, Alibaba, DigitalOcean':
    'akamai-* x-akamai-* incap-client-* x-sucuri-* ali-cdn-real-ip cdn-src-ip cdn-real-ip ' +
    'do-connecting-ip eo-client-ip eo-connecting-ip',
  Azure:
    'x-azure-* x-arr-* x-ms-original-url ' +
    'x-ms-client-principal* x-ms-token-* x-waws-* x-appservice-proto disguised-host ' +
    'was-default-hostname',
  Google:
    'x-goog-authenticated-user-* x-goog-iap-* x-appengine-* x-endpoint-api-userinfo ' + 'x-apigateway-api-userinfo',
  Amazon:
    'x-amzn-oidc-* x-amzn-mtls-* x-amzn-tls-* x-amzn-request-context x-amzn-lambda-context ' +
    'x-apigateway-event x-apigateway-context cloudfront-viewer-* cloudfront-forwarded-*',
  'certificates of clients':
    'ssl-* x-ssl-* client-cert client-cert-* x-client-cert x-client-cert-* ' +
    'x-client-certificate* x-clientcert* x-client-dn x-client-cn ' +
    'x-client-ssl-* x-client-san ' +
    'x-client-subject* x-client-issuer* x-client-verify x-client-serial x-client-fingerprint x-tls-* ' +
    'x-mtls-* x-x509-*',
  'files that the proxy is to send: Rack::Sendfile, IIS': 'x-sendfile-type x-accel-* x-iisnode-*',
};

const names = new Set<string>();
const beginnings: string[] = [];
for (const row of Object.values(rows))
  for (const name of row.split(' '))
    if (name.endsWith('*')) beginnings.push(name.slice(0, -1));
    else names.add(name);

/** Whether a field is such a claim; `lower`: its name in lower case. */
export const isClaim = (lower: string): boolean =>
  names.has(lower) || beginnings.some((beginning) => lower.startsWith(beginning));

/** Every name of the table, `*` as it stands there; for tests and documents. */
export const claimedFields: readonly string[] = Object.values(rows).flatMap((row) => row.split(' '));
