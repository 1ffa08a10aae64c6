# Generated from the environment table (settings/environment.ts): UPDATE=1 node build/deploy/cluster/terraform.test.js

variable "waf_port" {
  description = "the port that protects: point clients here"
  type        = string
  default     = "8080"
  nullable    = false

  validation {
    condition     = try(tonumber(var.waf_port), 0) >= 1 && try(tonumber(var.waf_port), 0) <= 65535
    error_message = "WAF_PORT must be a port number from 1 to 65535."
  }
}

variable "waf_bind" {
  description = "address the protected port listens on"
  type        = string
  default     = "0.0.0.0"
  nullable    = false
}

variable "ja3_port" {
  description = "the same over TLS (HTTP/2 and HTTP/1.1), where clients have fingerprints (JA3, JA4); address: WAF_BIND"
  type        = string
  default     = "8443"
  nullable    = false

  validation {
    condition     = try(tonumber(var.ja3_port), 0) >= 1 && try(tonumber(var.ja3_port), 0) <= 65535
    error_message = "JA3_PORT must be a port number from 1 to 65535."
  }
}

variable "tls_edge" {
  description = "on, or off: nothing listens on JA3_PORT"
  type        = string
  default     = "on"
  nullable    = false

  validation {
    condition     = contains(["on", "off"], var.tls_edge)
    error_message = "TLS_EDGE must be one of on, off."
  }
}

variable "tls_certificates" {
  description = "folder of certificates and keys (PEM) for it, read again when it changes; empty = tls in GATEHOUSE_DATA; a self-signed one serves names that none is for"
  type        = string
  default     = ""
  nullable    = false
}

variable "upstream_customer" {
  description = "the application to protect, such as http://127.0.0.1:3000; empty = the bundled demo shop; sites in the settings win"
  type        = string
  default     = ""
  nullable    = false

  validation {
    condition     = var.upstream_customer == "" || (can(regex("^(https?://.*)?$", var.upstream_customer)))
    error_message = "UPSTREAM_CUSTOMER does not fit: it is the application to protect, such as http."
  }
}

variable "upstream_payment" {
  description = "the application behind /payment; empty = the bundled demo payment service; sites in the settings win"
  type        = string
  default     = ""
  nullable    = false

  validation {
    condition     = var.upstream_payment == "" || (can(regex("^(https?://.*)?$", var.upstream_payment)))
    error_message = "UPSTREAM_PAYMENT does not fit: it is the application behind /payment."
  }
}

variable "gatehouse_admin_token" {
  description = "bearer token of the admin interface, and between the two planes (then at least 32 characters)"
  type        = string
  sensitive   = true
  nullable    = false

  validation {
    condition     = length(var.gatehouse_admin_token) >= 8
    error_message = "GATEHOUSE_ADMIN_TOKEN must have at least 8 characters."
  }
}

variable "data_workers" {
  description = "worker threads; empty = one per available core"
  type        = string
  default     = ""
  nullable    = false

  validation {
    condition     = var.data_workers == "" || (can(regex("^[1-9][0-9]{0,2}$", var.data_workers)))
    error_message = "DATA_WORKERS does not fit: it is worker threads."
  }
}

variable "data_listener" {
  description = "auto (= net), net (the own one), uws (uWebSockets.js) or node (node:http)"
  type        = string
  default     = "auto"
  nullable    = false

  validation {
    condition     = contains(["auto", "net", "uws", "node"], var.data_listener)
    error_message = "DATA_LISTENER must be one of auto, net, uws, node."
  }
}

variable "ui_port" {
  description = "the console in a browser (address: ADMIN_BIND)"
  type        = string
  default     = "3010"
  nullable    = false

  validation {
    condition     = try(tonumber(var.ui_port), 0) >= 1 && try(tonumber(var.ui_port), 0) <= 65535
    error_message = "UI_PORT must be a port number from 1 to 65535."
  }
}

variable "console_token" {
  description = "by which the control plane knows the console, and believes it whom it speaks for"
  type        = string
  sensitive   = true
  nullable    = false

  validation {
    condition     = length(var.console_token) >= 8
    error_message = "CONSOLE_TOKEN must have at least 8 characters."
  }
}

variable "api_port" {
  description = "the control-plane interface"
  type        = string
  default     = "8095"
  nullable    = false

  validation {
    condition     = try(tonumber(var.api_port), 0) >= 1 && try(tonumber(var.api_port), 0) <= 65535
    error_message = "API_PORT must be a port number from 1 to 65535."
  }
}

variable "admin_bind" {
  description = "address of the console and the control plane; 0.0.0.0 = reachable from the network"
  type        = string
  default     = "127.0.0.1"
  nullable    = false
}

variable "admin_email" {
  description = "first login"
  type        = string
  default     = "admin@gatehouse.local"
  nullable    = false

  validation {
    condition     = can(regex("^[^\\s@]+@[^\\s@]+$", var.admin_email))
    error_message = "ADMIN_EMAIL does not fit: it is first login."
  }
}

variable "admin_initial_password" {
  description = "its password, to be changed after the first login"
  type        = string
  default     = ""
  sensitive   = true
  nullable    = false

  validation {
    condition     = var.admin_initial_password == "" || (length(var.admin_initial_password) >= 8)
    error_message = "ADMIN_INITIAL_PASSWORD must have at least 8 characters."
  }
}

variable "auth_session_secret" {
  description = "key that signs session tokens; changing it ends every session"
  type        = string
  sensitive   = true
  nullable    = false

  validation {
    condition     = length(var.auth_session_secret) >= 32
    error_message = "AUTH_SESSION_SECRET must have at least 32 characters."
  }
}

variable "settings_encryption_secret" {
  description = "key for secrets at rest; losing it loses the stored secrets"
  type        = string
  sensitive   = true
  nullable    = false

  validation {
    condition     = length(var.settings_encryption_secret) >= 32
    error_message = "SETTINGS_ENCRYPTION_SECRET must have at least 32 characters."
  }
}

variable "data_admin_token" {
  description = "token between the two planes as the control plane names it; empty = GATEHOUSE_ADMIN_TOKEN"
  type        = string
  default     = ""
  sensitive   = true
  nullable    = false

  validation {
    condition     = var.data_admin_token == "" || (length(var.data_admin_token) >= 32)
    error_message = "DATA_ADMIN_TOKEN must have at least 32 characters."
  }
}

variable "nodes_port" {
  description = "port where nodes on other machines enrol and connect (TLS, certificates of our own CA), such as 8096; empty = nowhere"
  type        = string
  default     = ""
  nullable    = false

  validation {
    condition     = var.nodes_port == "" || (try(tonumber(var.nodes_port), 0) >= 1 && try(tonumber(var.nodes_port), 0) <= 65535)
    error_message = "NODES_PORT must be a port number from 1 to 65535."
  }
}

variable "nodes_urls" {
  description = "where nodes reach NODES_PORT of every control plane, such as https://a.example.org:8096, separated by commas; empty = where they joined"
  type        = string
  default     = ""
  nullable    = false
}

variable "nodes_join_secret" {
  description = "secret by which nodes with JOIN_URLS enrol by themselves, the same on control planes and nodes; empty = a node needs a token"
  type        = string
  default     = ""
  sensitive   = true
  nullable    = false

  validation {
    condition     = var.nodes_join_secret == "" || (length(var.nodes_join_secret) >= 32)
    error_message = "NODES_JOIN_SECRET must have at least 32 characters."
  }
}

variable "nodes_join_max" {
  description = "nodes that are enrolled by NODES_JOIN_SECRET at once, at most"
  type        = string
  default     = "100"
  nullable    = false

  validation {
    condition     = can(regex("^[1-9][0-9]{0,2}$", var.nodes_join_max))
    error_message = "NODES_JOIN_MAX does not fit: it is nodes that are enrolled by NODES_JOIN_SECRET at once, at most."
  }
}

variable "nodes_forget_minutes" {
  description = "minutes without a word after which a node that enrolled by NODES_JOIN_SECRET leaves the list of nodes"
  type        = string
  default     = "60"
  nullable    = false

  validation {
    condition     = can(regex("^[1-9][0-9]{0,2}$", var.nodes_forget_minutes))
    error_message = "NODES_FORGET_MINUTES does not fit: it is minutes without a word after which a node that enrolled by NODES_JOIN_SECRET leaves the list of nodes."
  }
}

variable "join_urls" {
  description = "where a data plane that is no node yet enrols at its start (NODES_PORT of control planes), such as https://control.example.org:8096, separated by commas; empty = it does not"
  type        = string
  default     = ""
  nullable    = false
}

variable "join_token" {
  description = "token of `gatehouse node token` for that; empty = NODES_JOIN_SECRET"
  type        = string
  default     = ""
  sensitive   = true
  nullable    = false

  validation {
    condition     = var.join_token == "" || (length(var.join_token) >= 8)
    error_message = "JOIN_TOKEN must have at least 8 characters."
  }
}

variable "join_name" {
  description = "name under which it enrols; empty = the host name"
  type        = string
  default     = ""
  nullable    = false
}

variable "join_labels" {
  description = "its labels, such as region=eu,ring=canary; empty = none"
  type        = string
  default     = ""
  nullable    = false
}

variable "database_url" {
  description = "PostgreSQL (postgres://user@host:5432/name; of several hosts with commas between them the one that takes writes is used); empty = POSTGRES_*, or else embedded, below DATA_DIR"
  type        = string
  default     = ""
  sensitive   = true
  nullable    = false
}

variable "database_read_url" {
  description = "a streaming replica of that PostgreSQL (postgres://…), for lists, numbers and search; empty = none"
  type        = string
  default     = ""
  sensitive   = true
  nullable    = false
}

variable "database_read_lag" {
  description = "seconds that the replica may be behind; further behind, and while it is away, the primary answers"
  type        = string
  default     = "5"
  nullable    = false

  validation {
    condition     = can(regex("^[1-9][0-9]{0,2}$", var.database_read_lag))
    error_message = "DATABASE_READ_LAG does not fit: it is seconds that the replica may be behind."
  }
}

variable "postgres_host" {
  description = "PostgreSQL host when DATABASE_URL is empty; empty = embedded"
  type        = string
  default     = ""
  nullable    = false
}

variable "postgres_port" {
  description = "PostgreSQL port"
  type        = string
  default     = "5432"
  nullable    = false

  validation {
    condition     = try(tonumber(var.postgres_port), 0) >= 1 && try(tonumber(var.postgres_port), 0) <= 65535
    error_message = "POSTGRES_PORT must be a port number from 1 to 65535."
  }
}

variable "postgres_user" {
  description = "PostgreSQL user"
  type        = string
  default     = "gatehouse"
  nullable    = false
}

variable "postgres_password" {
  description = "PostgreSQL password"
  type        = string
  default     = ""
  sensitive   = true
  nullable    = false

  validation {
    condition     = var.postgres_password == "" || (length(var.postgres_password) >= 8)
    error_message = "POSTGRES_PASSWORD must have at least 8 characters."
  }
}

variable "postgres_db" {
  description = "PostgreSQL database"
  type        = string
  default     = "gatehouse"
  nullable    = false
}

variable "backup_recipient" {
  description = "age public key (age1…) that `gatehouse backup` seals secrets for; `gatehouse backup key` makes a pair and sets it; empty = a backup asks for --recipient or --passphrase-file"
  type        = string
  default     = ""
  nullable    = false
}

variable "backup_to" {
  description = "where backups go: a directory, or a bucket of an S3 store (s3://bucket/folder); empty = backups in GATEHOUSE_DATA"
  type        = string
  default     = ""
  nullable    = false
}

variable "backup_s3_endpoint" {
  description = "address of the S3 store, such as https://minio.example.org; empty = AWS in BACKUP_S3_REGION"
  type        = string
  default     = ""
  nullable    = false

  validation {
    condition     = var.backup_s3_endpoint == "" || (can(regex("^(https?://.*)?$", var.backup_s3_endpoint)))
    error_message = "BACKUP_S3_ENDPOINT does not fit: it is address of the S3 store, such as https."
  }
}

variable "backup_s3_region" {
  description = "region of the S3 store; many stores of your own take any"
  type        = string
  default     = "us-east-1"
  nullable    = false
}

variable "backup_s3_access_key_id" {
  description = "key of the S3 store that may put, get, list and delete there"
  type        = string
  default     = ""
  nullable    = false
}

variable "backup_s3_secret_access_key" {
  description = "its secret"
  type        = string
  default     = ""
  sensitive   = true
  nullable    = false

  validation {
    condition     = var.backup_s3_secret_access_key == "" || (length(var.backup_s3_secret_access_key) >= 8)
    error_message = "BACKUP_S3_SECRET_ACCESS_KEY must have at least 8 characters."
  }
}

variable "redis_url" {
  description = "where processes of the control plane share their limits of logins, and nodes their rate limits (rl_distributed): redis://, redis+sentinel://, redis+cluster://, with TLS rediss…, unix:///; empty = each counts for itself"
  type        = string
  default     = ""
  sensitive   = true
  nullable    = false
}

variable "redis_password" {
  description = "password of Redis that REDIS_URL does not have; empty = the one in it, or none"
  type        = string
  default     = ""
  sensitive   = true
  nullable    = false
}

variable "redis_sentinel_username" {
  description = "ACL user of the sentinels themselves; empty = their default user"
  type        = string
  default     = ""
  nullable    = false
}

variable "redis_sentinel_password" {
  description = "password of the sentinels themselves; empty = they ask for none"
  type        = string
  default     = ""
  sensitive   = true
  nullable    = false
}

variable "redis_tls_ca_file" {
  description = "certificate of the authority (PEM) that certificates of Redis are checked with; empty = well-known ones"
  type        = string
  default     = ""
  nullable    = false
}

variable "redis_tls_cert_file" {
  description = "client certificate (PEM) for a Redis that asks for one; empty = none"
  type        = string
  default     = ""
  nullable    = false
}

variable "redis_tls_key_file" {
  description = "private key (PEM) of REDIS_TLS_CERT_FILE; empty = none"
  type        = string
  default     = ""
  nullable    = false
}

variable "redis_tls_server_name" {
  description = "name that certificates of Redis must have; empty = the name or address connected to"
  type        = string
  default     = ""
  nullable    = false
}

variable "redis_prefix" {
  description = "begins every key in Redis, so that several installations can use one; empty = derived from AUTH_SESSION_SECRET, and on nodes from GATEHOUSE_ADMIN_TOKEN"
  type        = string
  default     = ""
  nullable    = false

  validation {
    condition     = var.redis_prefix == "" || (can(regex("^[A-Za-z0-9:._-]{0,64}$", var.redis_prefix)))
    error_message = "REDIS_PREFIX does not fit: it is begins every key in Redis, so that several installations can use one."
  }
}

variable "app_brand" {
  description = "name in the console, in the API explorer and in authenticator apps"
  type        = string
  default     = "Gatehouse"
  nullable    = false
}

variable "app_brand_sub" {
  description = "second word of the brand in the console"
  type        = string
  default     = "WAAP"
  nullable    = false
}

variable "app_tagline" {
  description = "line below the name on the login page of the console"
  type        = string
  default     = ""
  nullable    = false
}

variable "app_logo" {
  description = "logo of the console and its icon: an SVG or PNG of 256 KiB at most; empty = the built-in one"
  type        = string
  default     = ""
  nullable    = false
}

variable "app_accent" {
  description = "colour of buttons, links and marks in the console, such as #3f51b5; empty = the built-in one"
  type        = string
  default     = ""
  nullable    = false
}

variable "public_demo" {
  description = "1 = everyone who reaches the console may try attacks at /demo, in a sandbox without a login; 0 = off"
  type        = string
  default     = "1"
  nullable    = false

  validation {
    condition     = contains(["", "0", "1"], var.public_demo)
    error_message = "PUBLIC_DEMO must be one of 0, 1."
  }
}

variable "dashboard_domain" {
  description = "host name under which the console and the API are reached over HTTPS, through the data plane; its certificate is ordered by itself; empty = none"
  type        = string
  default     = ""
  nullable    = false
}

variable "dashboard_upstream" {
  description = "where the data plane finds the console for DASHBOARD_DOMAIN; empty = the console on this machine (ADMIN_BIND, UI_PORT)"
  type        = string
  default     = ""
  nullable    = false

  validation {
    condition     = var.dashboard_upstream == "" || (can(regex("^(https?://.*)?$", var.dashboard_upstream)))
    error_message = "DASHBOARD_UPSTREAM does not fit: it is where the data plane finds the console for DASHBOARD_DOMAIN."
  }
}

variable "dashboard_proxies" {
  description = "addresses, networks or host names of nodes whose word of the client the console believes; none = no address; empty = this machine (127.0.0.1, ::1, ADMIN_BIND) with DASHBOARD_DOMAIN, else no address"
  type        = string
  default     = ""
  nullable    = false
}

variable "acme_email" {
  description = "contact of the accounts at certificate authorities; empty = ADMIN_EMAIL"
  type        = string
  default     = ""
  nullable    = false
}

variable "acme_directories" {
  description = "ACME directories (RFC 8555) as name=address, separated by commas; the first is asked first, the next after three failures in a row"
  type        = string
  default     = "letsencrypt=https://acme-v02.api.letsencrypt.org/directory"
  nullable    = false
}

variable "acme_staging_directory" {
  description = "directory at which new sets of names are tried first (setting acme_staging_first); none = nowhere"
  type        = string
  default     = "https://acme-staging-v02.api.letsencrypt.org/directory"
  nullable    = false
}

variable "acme_eab" {
  description = "external account bindings of directories that ask for one, as name=key id:HMAC key in base64url, separated by commas"
  type        = string
  default     = ""
  sensitive   = true
  nullable    = false
}

variable "acme_ca_file" {
  description = "certificates (PEM) by which directories of your own are believed, beside those of the system"
  type        = string
  default     = ""
  nullable    = false
}

variable "acme_dns_hook" {
  description = "program for dns-01, called as PROGRAM present|cleanup _acme-challenge.NAME VALUE; it returns when the record can be seen; empty = no dns-01"
  type        = string
  default     = ""
  nullable    = false
}

variable "api_trusted_proxies" {
  description = "addresses whose X-Forwarded-For the control plane believes: those of a proxy in front of it, such as 127.0.0.1; empty = none, each connection counts as its own address"
  type        = string
  default     = ""
  nullable    = false
}

variable "outbound_allow" {
  description = "private addresses, networks or names that outgoing calls of the control plane may reach, separated by commas"
  type        = string
  default     = ""
  nullable    = false
}

variable "chromium" {
  description = "path of the Chromium that active scans open pages with scripts in; empty = the one on the path, none = no browser (docs/active-scans.md)"
  type        = string
  default     = ""
  nullable    = false
}

variable "breached_passwords_url" {
  description = "range service for breached passwords (only five characters of a hash are sent)"
  type        = string
  default     = "https://api.pwnedpasswords.com/range/"
  nullable    = false

  validation {
    condition     = can(regex("^(https?://.*)?$", var.breached_passwords_url))
    error_message = "BREACHED_PASSWORDS_URL does not fit: it is range service for breached passwords."
  }
}

variable "tor_exits_url" {
  description = "list of exit nodes of the Tor network"
  type        = string
  default     = "https://check.torproject.org/torbulkexitlist"
  nullable    = false

  validation {
    condition     = can(regex("^(https?://.*)?$", var.tor_exits_url))
    error_message = "TOR_EXITS_URL does not fit: it is list of exit nodes of the Tor network."
  }
}

variable "mmdb_country_file" {
  description = "MMDB file by which security events get the country of their client; empty = none (docs/events.md)"
  type        = string
  default     = ""
  nullable    = false
}

variable "mmdb_network_file" {
  description = "the same for its network (autonomous system)"
  type        = string
  default     = ""
  nullable    = false
}

variable "log_level" {
  description = "of the control plane: fatal, error, warn, info, debug, trace or silent"
  type        = string
  default     = "info"
  nullable    = false

  validation {
    condition     = contains(["fatal", "error", "warn", "info", "debug", "trace", "silent"], var.log_level)
    error_message = "LOG_LEVEL must be one of fatal, error, warn, info, debug, trace, silent."
  }
}

locals {
  data_plane_environment = {
    WAF_PORT = var.waf_port
    WAF_BIND = var.waf_bind
    JA3_PORT = var.ja3_port
    TLS_EDGE = var.tls_edge
    TLS_CERTIFICATES = var.tls_certificates
    UPSTREAM_CUSTOMER = var.upstream_customer
    UPSTREAM_PAYMENT = var.upstream_payment
    GATEHOUSE_ADMIN_TOKEN = var.gatehouse_admin_token
    DATA_WORKERS = var.data_workers
    DATA_LISTENER = var.data_listener
    NODES_JOIN_SECRET = var.nodes_join_secret
    JOIN_URLS = var.join_urls
    JOIN_TOKEN = var.join_token
    JOIN_NAME = var.join_name
    JOIN_LABELS = var.join_labels
    REDIS_URL = var.redis_url
    REDIS_PASSWORD = var.redis_password
    REDIS_SENTINEL_USERNAME = var.redis_sentinel_username
    REDIS_SENTINEL_PASSWORD = var.redis_sentinel_password
    REDIS_TLS_CA_FILE = var.redis_tls_ca_file
    REDIS_TLS_CERT_FILE = var.redis_tls_cert_file
    REDIS_TLS_KEY_FILE = var.redis_tls_key_file
    REDIS_TLS_SERVER_NAME = var.redis_tls_server_name
    REDIS_PREFIX = var.redis_prefix
    DASHBOARD_DOMAIN = var.dashboard_domain
    DASHBOARD_UPSTREAM = var.dashboard_upstream
  }
  control_plane_environment = {
    WAF_PORT = var.waf_port
    UPSTREAM_CUSTOMER = var.upstream_customer
    UPSTREAM_PAYMENT = var.upstream_payment
    GATEHOUSE_ADMIN_TOKEN = var.gatehouse_admin_token
    CONSOLE_TOKEN = var.console_token
    API_PORT = var.api_port
    ADMIN_BIND = var.admin_bind
    ADMIN_EMAIL = var.admin_email
    ADMIN_INITIAL_PASSWORD = var.admin_initial_password
    AUTH_SESSION_SECRET = var.auth_session_secret
    SETTINGS_ENCRYPTION_SECRET = var.settings_encryption_secret
    DATA_ADMIN_TOKEN = var.data_admin_token
    NODES_PORT = var.nodes_port
    NODES_URLS = var.nodes_urls
    NODES_JOIN_SECRET = var.nodes_join_secret
    NODES_JOIN_MAX = var.nodes_join_max
    NODES_FORGET_MINUTES = var.nodes_forget_minutes
    DATABASE_URL = var.database_url
    DATABASE_READ_URL = var.database_read_url
    DATABASE_READ_LAG = var.database_read_lag
    POSTGRES_HOST = var.postgres_host
    POSTGRES_PORT = var.postgres_port
    POSTGRES_USER = var.postgres_user
    POSTGRES_PASSWORD = var.postgres_password
    POSTGRES_DB = var.postgres_db
    BACKUP_RECIPIENT = var.backup_recipient
    BACKUP_TO = var.backup_to
    BACKUP_S3_ENDPOINT = var.backup_s3_endpoint
    BACKUP_S3_REGION = var.backup_s3_region
    BACKUP_S3_ACCESS_KEY_ID = var.backup_s3_access_key_id
    BACKUP_S3_SECRET_ACCESS_KEY = var.backup_s3_secret_access_key
    REDIS_URL = var.redis_url
    REDIS_PASSWORD = var.redis_password
    REDIS_SENTINEL_USERNAME = var.redis_sentinel_username
    REDIS_SENTINEL_PASSWORD = var.redis_sentinel_password
    REDIS_TLS_CA_FILE = var.redis_tls_ca_file
    REDIS_TLS_CERT_FILE = var.redis_tls_cert_file
    REDIS_TLS_KEY_FILE = var.redis_tls_key_file
    REDIS_TLS_SERVER_NAME = var.redis_tls_server_name
    REDIS_PREFIX = var.redis_prefix
    APP_BRAND = var.app_brand
    PUBLIC_DEMO = var.public_demo
    DASHBOARD_DOMAIN = var.dashboard_domain
    DASHBOARD_UPSTREAM = var.dashboard_upstream
    ACME_EMAIL = var.acme_email
    ACME_DIRECTORIES = var.acme_directories
    ACME_STAGING_DIRECTORY = var.acme_staging_directory
    ACME_EAB = var.acme_eab
    ACME_CA_FILE = var.acme_ca_file
    ACME_DNS_HOOK = var.acme_dns_hook
    API_TRUSTED_PROXIES = var.api_trusted_proxies
    OUTBOUND_ALLOW = var.outbound_allow
    CHROMIUM = var.chromium
    BREACHED_PASSWORDS_URL = var.breached_passwords_url
    TOR_EXITS_URL = var.tor_exits_url
    MMDB_COUNTRY_FILE = var.mmdb_country_file
    MMDB_NETWORK_FILE = var.mmdb_network_file
    LOG_LEVEL = var.log_level
  }
  console_environment = {
    UI_PORT = var.ui_port
    CONSOLE_TOKEN = var.console_token
    API_PORT = var.api_port
    ADMIN_BIND = var.admin_bind
    APP_BRAND = var.app_brand
    APP_BRAND_SUB = var.app_brand_sub
    APP_TAGLINE = var.app_tagline
    APP_LOGO = var.app_logo
    APP_ACCENT = var.app_accent
    DASHBOARD_DOMAIN = var.dashboard_domain
    DASHBOARD_PROXIES = var.dashboard_proxies
  }
}
