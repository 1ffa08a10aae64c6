// What `gatehouse help` prints.
export const usage = [
  'Gatehouse, a web application firewall.',
  '',
  '  gatehouse up [--NAME value]…      start everything here; flags override .env ' +
    '(--waf-port 9000, --upstream-customer URL, …);',
  '                                    --no-api leaves the control plane out',
  '  gatehouse data-plane [--NAME …]   only the data plane, in the foreground, logs on standard output; ' +
    'where GATEHOUSE_CONTROL_URL names',
  '                                    its control plane it begins with what served last (--resume), ' +
    'else with data/settings.json (--local);',
  '                                    --keep-alive where no service manager does: it is started again when it dies, ' +
    'clients wait meanwhile,',
  '                                    and its log is data/log/data-plane.log',
  '  gatehouse control-plane [--NAME …] only the control plane, in the foreground',
  '  gatehouse console [--ui-port N]   only the console in a browser, in front of the control plane',
  '  gatehouse reset-password [E-MAIL] a new password for a login (default ADMIN_EMAIL), printed once; ' +
    'Gatehouse stopped',
  '  gatehouse node token [--label NAME=VALUE]… [--minutes N] [--nodes-max N [--forget-after MINUTES]] [--json]',
  '                                    a token for a node on another machine, or for N at once that come and go; ' +
    'on the host of the control plane',
  '  gatehouse node join URL[,URL]… TOKEN [--name NAME] [--label NAME=VALUE]…',
  '                                    enrols this node at its control planes; node show: what it is',
  '  gatehouse node drain [--wait SECONDS] [--undo]',
  '                                    takes this node out of its load balancer (/readyz answers 503), ' +
    'before it is stopped',
  '  gatehouse health [data-plane | control-plane | console]',
  '                                    whether it answers: 0 yes, 1 no; all of them without a name',
  '  gatehouse backup [--to DIRECTORY|FILE] [--encrypt] [--recipient age1…|--passphrase-file FILE] [--keep N]',
  '                                    database, configuration, artifacts and sealed secrets in one file, ' +
    'while everything serves;',
  '                                    backup key: a pair of keys; backup verify FILE [--key-file FILE]; ' +
    'backup environment FILE: the secrets in it',
  '  gatehouse restore FILE [--key-file FILE|--passphrase-file FILE] [-y]',
  '                                    puts a backup into this installation, which is stopped: embedded or PostgreSQL',
  '  gatehouse licence keygen --out DIRECTORY | issue --key FILE --customer NAME --max-domains N ' +
    '[--expires YYYY-MM-DD] [--edition NAME] | show FILE|KEY|-',
  '                                    for vendors: a key pair, a licence, what a licence says (docs/licence.md)',
  '  gatehouse capacity [--seconds N] [--paranoia 1-4] [--workers N] [--json]',
  '                                    what a request costs on this machine, ' +
    'and what it would carry (docs/capacity.md); Linux',
  '  gatehouse harden [--dry-run]      limits of this host in front of the protected ports (nftables, sysctl): ' +
    '--rate N, --connections N, --ports A,B,',
  '                                    --trusted NETWORKS; --remove takes them back',
  '  gatehouse demo [--demo-port N]    only the bundled demo shop',
  '  gatehouse demo-data --token apt_… [--url URL] [--remove]',
  '                                    a made-up organisation for the vulnerability manager, ' +
    'through the real imports; and away again',
  '  gatehouse gate --application ID --commit HASH [--report FILE]… [--junit FILE] [--sarif FILE] [--json FILE]',
  '                                    whether a commit may go on, for pipelines: 0 yes, 1 no, 2 unknown; ' +
    'GATEHOUSE_URL, GATEHOUSE_TOKEN',
  '  gatehouse scan [PATH|ARCHIVE|IMAGE|BILL]… [--only KIND,…] [--format ' +
    'table|sarif|cyclonedx|json|junit|markdown] [-o FILE] ' +
    '[--fail-on SEVERITY]',
  '                                    looks for secrets and more without a server; 0 nothing, 1 something, ' +
    '2 not everything was read; --gate sends it',
  '  gatehouse compile [--settings FILE] [--rules GLOB]… [--dump] -o FILE',
  '  gatehouse inspect --rules GLOB… --requests FILE.jsonl [--engine compiled|interpreter] [--phases 1-5] ' +
    '[--reflect] -o OUT.jsonl',
  '  gatehouse explain FILE|- [--json] one raw HTTP request through the rules that serve, ' +
    'or those of --settings FILE or --rules GLOB',
  '  gatehouse ftw --rules GLOB… --cases FILE.jsonl [--report FILE]',
  '  gatehouse rules [update [VERSION --sha256 HASH | --file ARCHIVE | --debian] | use VERSION]',
  '                                    which core rule sets are here; moving to another one, and back',
  '  gatehouse version [--json]        which release this is',
  '  gatehouse help',
  '',
  'Exit codes: 0 done, 1 refused or failed, 2 wrong usage.',
].join('\n');
