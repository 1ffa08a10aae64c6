// Tokens that tell by their form whose they are: prefixes, lengths and checksums as their issuers document them.
import { detector, token, type Detector } from './detector.js';
import { entropy, hasBase62Checksum, isRandom } from './values.js';

const hex = '[0-9a-fA-F]';
const any = '[A-Za-z0-9_-]';
const plain = '[A-Za-z0-9]';

const code: readonly Detector[] = [
  detector({
    id: 'github-token',
    title: 'Token of GitHub',
    severity: 'critical',
    keywords: ['ghp_', 'gho_', 'ghu_', 'ghs_', 'ghr_'],
    isExact: true,
    pattern: `(?<![A-Za-z0-9])gh[pousr]_(?<random>${plain}{36})(?![A-Za-z0-9])`,
    judge: ({ groups }) => hasBase62Checksum(groups['random'] ?? ''),
  }),
  detector({
    id: 'github-app-token',
    title: 'Installation token of a GitHub App',
    severity: 'critical',
    keywords: ['ghs_'],
    isExact: true,
    reach: 900,
    pattern: `(?<![A-Za-z0-9])ghs_\\d{1,12}_eyJ${any}{10,400}\\.eyJ${any}{10,400}\\.${any}{20,}`,
  }),
  token('github-fine-grained', 'Fine-grained token of GitHub', 'critical', 'github_pat_', `${plain}{22}_${plain}{59}`),
  token('npm-token', 'Token of npm', 'critical', 'npm_', `(?<random>${plain}{36})`, {
    judge: ({ groups }) => hasBase62Checksum(groups['random'] ?? ''),
  }),
  token(
    'gitlab-token',
    'Personal token of GitLab',
    'critical',
    'glpat-',
    `(?:${any}{20}|${any}{27,300}\\.[0-9a-z]{2}\\.?[0-9a-z]{7,9})`,
  ),
  detector({
    id: 'gitlab-other-token',
    title: 'Token of GitLab (deploy, runner, pipeline)',
    severity: 'critical',
    keywords: ['gldt-', 'glrt-', 'glcbt-', 'glptt-', 'glft-', 'glsoat-', 'glagent-'],
    isExact: true,
    pattern:
      `(?<![A-Za-z0-9])gl(?:dt|rt|ft|soat|cbt-[0-9a-fA-F]{1,5}|agent)[-_]${any}{20,50}` +
      `|(?<![A-Za-z0-9])glptt-[0-9a-f]{40}`,
  }),
  token('pypi-token', 'Token of the Python package index', 'critical', 'pypi-AgEI', `cHlwaS5vcmc${any}{50,1000}`, {
    reach: 1100,
  }),
  token('rubygems-token', 'Token of RubyGems', 'high', 'rubygems_', '[0-9a-f]{48}'),
  token('docker-token', 'Token of Docker Hub', 'high', 'dckr_pat_', `${any}{27,40}`),
  detector({
    id: 'vercel-token',
    title: 'Token of Vercel',
    severity: 'high',
    keywords: ['vcp_', 'vci_', 'vca_', 'vcr_', 'vck_'],
    isExact: true,
    pattern: `(?<![A-Za-z0-9])vc[piark]_${plain}{24,80}(?![A-Za-z0-9_-])`,
  }),
  token('postman-key', 'Key of Postman', 'high', 'PMAK-', '[0-9a-f]{24}-[0-9a-f]{34}'),
  token('sentry-token', 'User token of Sentry', 'high', 'sntryu_', '[0-9a-f]{64}'),
  token('linear-key', 'Key of Linear', 'high', 'lin_api_', `${plain}{40}`),
  token('notion-token', 'Token of Notion', 'high', 'ntn_', `\\d{11}${plain}{35}`),
  token('figma-token', 'Token of Figma', 'high', 'figd_', `${any}{38,60}`),
];

const clouds: readonly Detector[] = [
  detector({
    id: 'aws-access-key',
    title: 'Access key id of AWS',
    severity: 'high',
    description: 'The id of an access key: with its secret, which often stands beside it, it opens the account.',
    keywords: ['AKIA', 'ASIA', 'ABIA', 'ACCA'],
    isExact: true,
    pattern: '(?<![A-Za-z0-9/+])(?:AKIA|ASIA|ABIA|ACCA)[A-Z2-7]{16}(?![A-Za-z0-9/+=])',
    judge: ({ around }) => (/secret[^\n]{0,40}[A-Za-z0-9/+]{40}(?![A-Za-z0-9/+])/i.test(around) ? 'critical' : true),
  }),
  detector({
    id: 'aws-secret-key',
    title: 'Secret access key of AWS',
    severity: 'critical',
    keywords: ['aws', 'secret_access_key', 'secretaccesskey', 'secret access key'],
    pattern:
      '(?:aws.{0,25}?(?:secret|key|sk)|secret.?access.?key).{0,20}?(?:=|:|,|\\s)\\s*["\'`]?' +
      '(?<value>[A-Za-z0-9/+]{40})(?![A-Za-z0-9/+=])',
    flags: 'i',
    reach: 160,
    judge: ({ value }) => entropy(value) > 3.8 && !/^[0-9a-f]+$/i.test(value) && !value.startsWith('/'),
  }),
  token('google-api-key', 'API key of Google', 'medium', 'AIza', `${any}{35}`, {
    judge: ({ value }) => entropy(value) > 3.2,
  }),
  detector({
    id: 'google-service-account',
    title: 'Key of a Google service account',
    severity: 'critical',
    keywords: ['private_key_id'],
    reach: 400,
    pattern: '"private_key_id"\\s*:\\s*"(?<value>[0-9a-f]{40})"',
  }),
  detector({
    id: 'google-oauth-secret',
    title: 'Client secret of Google',
    severity: 'high',
    keywords: ['GOCSPX-'],
    isExact: true,
    pattern: `(?<![A-Za-z0-9])GOCSPX-${any}{28}(?![A-Za-z0-9_-])`,
  }),
  detector({
    id: 'azure-ad-secret',
    title: 'Client secret of an Azure application',
    severity: 'critical',
    keywords: ['q~'],
    isExact: true,
    pattern: '(?<![A-Za-z0-9_~.-])[A-Za-z0-9_~.]{3}\\dQ~[A-Za-z0-9_~.-]{31,34}(?![A-Za-z0-9_~-])',
  }),
  detector({
    id: 'azure-client-secret',
    title: 'Client secret of an Azure application, in its older form',
    severity: 'critical',
    keywords: ['azure'],
    flags: 'i',
    pattern:
      'azure.{0,12}?client.?secret["\']?\\s*(?::=|=|:)\\s*["\'`]?(?<value>[A-Za-z0-9+/_.~=-]{34,44})(?![A-Za-z0-9])',
    judge: ({ value }) => isRandom(value),
  }),
  detector({
    id: 'azure-storage-key',
    title: 'Key of an Azure storage account',
    severity: 'critical',
    keywords: ['AccountKey=', 'SharedAccessKey='],
    pattern: '(?:Account|SharedAccess)Key=(?<value>[A-Za-z0-9+/]{43,86}={1,2})',
  }),
  token('digitalocean-token', 'Token of DigitalOcean', 'high', 'dop_v1_', '[0-9a-f]{64}'),
  detector({
    id: 'cloudflare-token',
    title: 'Token of Cloudflare',
    severity: 'high',
    keywords: ['cfat_', 'cfut_', 'cfk_'],
    isExact: true,
    pattern: `(?<![A-Za-z0-9])cf(?:at|ut|k)_${plain}{40}[0-9a-f]{8}(?![A-Za-z0-9_-])`,
  }),
  token('fly-token', 'Token of Fly', 'high', 'fo1_', `${any}{43}`),
  token('heroku-key', 'Key of Heroku', 'high', 'HRKU-AA', `${any}{58}`),
  token('pulumi-token', 'Token of Pulumi', 'high', 'pul-', '[0-9a-f]{40}'),
  token('databricks-token', 'Token of Databricks', 'high', 'dapi', `${hex}{32}(?:-\\d)?`),
  token('terraform-token', 'Token of Terraform Cloud', 'high', '.atlasv1.', '', {
    keywords: ['.atlasv1.'],
    pattern: `(?<![A-Za-z0-9])${plain}{14}\\.atlasv1\\.${any}{60,70}`,
  }),
  token('doppler-token', 'Token of Doppler', 'high', 'dp.pt.', `${plain}{43}`),
  detector({
    id: 'grafana-token',
    title: 'Token of Grafana',
    severity: 'high',
    keywords: ['glsa_', 'glc_'],
    isExact: true,
    pattern: `(?<![A-Za-z0-9])(?:glsa_${plain}{32}_[0-9A-Fa-f]{8}|glc_eyJ[A-Za-z0-9+/]{20,400}={0,2})(?![A-Za-z0-9_])`,
  }),
  detector({
    id: 'vault-token',
    title: 'Token of HashiCorp Vault',
    severity: 'critical',
    keywords: ['hvs.', 'hvb.', 'hvr.'],
    isExact: true,
    pattern: `(?<![A-Za-z0-9])hv[sbr]\\.${any}{90,300}(?![A-Za-z0-9_-])`,
  }),
  detector({
    id: 'tailscale-key',
    title: 'Key of Tailscale',
    severity: 'high',
    keywords: ['tskey-'],
    isExact: true,
    pattern: `(?<![A-Za-z])tskey-[a-z]{2,12}-${plain}{10,20}-${plain}{20,40}(?![A-Za-z0-9_-])`,
  }),
];

const services: readonly Detector[] = [
  detector({
    id: 'slack-token',
    title: 'Token of Slack',
    severity: 'high',
    keywords: ['xoxb-', 'xoxp-', 'xoxe-', 'xoxa-', 'xoxo-', 'xoxr-', 'xoxs-', 'xapp-'],
    isExact: true,
    pattern:
      '(?<![A-Za-z0-9])(?:xox[bpaores](?:\\.xox[bp])?-(?:\\d{8,14}-\\d{8,14}(?:-[A-Za-z0-9-]{6,120})?|' +
      '\\d-[A-Za-z0-9]{100,300})' +
      '|xapp-\\d-[A-Z0-9]{9,13}-\\d{8,14}-[0-9a-z]{50,80})',
  }),
  detector({
    id: 'slack-webhook',
    title: 'Incoming webhook of Slack',
    severity: 'medium',
    description: 'A holder of the address can write into the channel.',
    keywords: ['hooks.slack.com'],
    isExact: true,
    pattern:
      'hooks\\.slack\\.com/(?:services|workflows|triggers)/[A-Z][A-Za-z0-9]{5,12}/[A-Za-z0-9]{5,20}/[A-Za-z0-9]{10,40}',
  }),
  detector({
    id: 'stripe-key',
    title: 'Secret key of Stripe',
    severity: 'critical',
    keywords: ['sk_live_', 'rk_live_', 'sk_test_', 'rk_test_'],
    isExact: true,
    pattern: `(?<![A-Za-z0-9])[sr]k_(?<mode>live|test)_${plain}{24,247}(?![A-Za-z0-9_-])`,
    reach: 300,
    judge: ({ groups }) => (groups['mode'] === 'test' ? 'low' : true),
  }),
  token('sendgrid-key', 'Key of SendGrid', 'high', 'SG.', `${any}{22}\\.${any}{43}`),
  token('twilio-key', 'Key of Twilio', 'medium', 'SK', '[0-9a-f]{32}', {
    keywords: ['twilio'],
    reach: 120,
  }),
  detector({
    id: 'twilio-auth-token',
    title: 'Auth token of Twilio',
    severity: 'high',
    keywords: ['auth_token', 'authtoken'],
    flags: 'i',
    pattern: 'auth_?token["\']?\\s*[=:]\\s*["\']?(?<value>[0-9a-f]{32})(?![0-9a-z])',
    judge: ({ around }) => /\bAC[0-9a-f]{32}\b|twilio/i.test(around),
  }),
  token('mailgun-key', 'Key of Mailgun', 'medium', 'key-', '[0-9a-f]{32}'),
  detector({
    id: 'mailchimp-key',
    title: 'Key of Mailchimp',
    severity: 'medium',
    keywords: ['-us'],
    isExact: true,
    pattern: '(?<![0-9a-zA-Z])[0-9a-f]{32}-us\\d{1,2}(?![0-9a-zA-Z])',
  }),
  detector({
    id: 'telegram-token',
    title: 'Token of a Telegram bot',
    severity: 'medium',
    keywords: [':A'],
    isExact: true,
    pattern: `(?<![A-Za-z0-9])\\d{5,16}:A${any}{34}(?![A-Za-z0-9_-])`,
  }),
  detector({
    id: 'discord-token',
    title: 'Token of a Discord bot',
    severity: 'medium',
    keywords: ['discord'],
    pattern: `(?<value>[MNO][A-Za-z0-9_-]{23,25}\\.[A-Za-z0-9_-]{6}\\.[A-Za-z0-9_-]{27,38})`,
  }),
  detector({
    id: 'shopify-token',
    title: 'Token of Shopify',
    severity: 'high',
    keywords: ['shpat_', 'shpss_', 'shpca_', 'shppa_'],
    isExact: true,
    pattern: `(?<![A-Za-z0-9])shp(?:at|ss|ca|pa)_${plain}{32,38}(?![A-Za-z0-9_])`,
  }),
];

const models: readonly Detector[] = [
  detector({
    id: 'openai-key',
    title: 'Key of OpenAI',
    severity: 'high',
    keywords: ['T3BlbkFJ'],
    isExact: true,
    reach: 200,
    pattern: `(?<![A-Za-z0-9])sk-(?:(?:proj|svcacct|admin)-)?${any}{20,90}T3BlbkFJ${any}{20,90}`,
  }),
  token('anthropic-key', 'Key of Anthropic', 'high', 'sk-ant-', `(?:api0[34]|admin01)-${any}{80,110}AA`),
  token('huggingface-token', 'Token of Hugging Face', 'high', 'hf_', '[A-Za-z]{34}'),
  token('perplexity-key', 'Key of Perplexity', 'high', 'pplx-', `${plain}{48}`),
  token('groq-key', 'Key of Groq', 'high', 'gsk_', `${plain}{52}`),
];

export const providerRules: readonly Detector[] = [...code, ...clouds, ...services, ...models];
