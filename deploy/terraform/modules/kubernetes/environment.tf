# Generated from the environment table (settings/environment.ts): UPDATE=1 node build/deploy/cluster/terraform.test.js

variable "data_plane_environment" {
  description = "Other variables of the data plane."
  type = object({
    # auto (= net), net (the own one), uws (uWebSockets.js) or node (node:http)
    DATA_LISTENER = optional(string)
    # ACL user of the sentinels themselves; empty = their default user
    REDIS_SENTINEL_USERNAME = optional(string)
    # certificate of the authority (PEM) that certificates of Redis are checked with; empty = well-known ones
    REDIS_TLS_CA_FILE = optional(string)
    # client certificate (PEM) for a Redis that asks for one; empty = none
    REDIS_TLS_CERT_FILE = optional(string)
    # private key (PEM) of REDIS_TLS_CERT_FILE; empty = none
    REDIS_TLS_KEY_FILE = optional(string)
    # name that certificates of Redis must have; empty = the name or address connected to
    REDIS_TLS_SERVER_NAME = optional(string)
    # begins every key in Redis, so that several installations can use one; empty = derived from AUTH_SESSION_SECRET, and on nodes from GATEHOUSE_ADMIN_TOKEN
    REDIS_PREFIX = optional(string)
  })
  default  = {}
  nullable = false

  validation {
    condition     = var.data_plane_environment.DATA_LISTENER == null ? true : contains(["auto", "net", "uws", "node"], var.data_plane_environment.DATA_LISTENER)
    error_message = "DATA_LISTENER must be one of auto, net, uws, node."
  }

  validation {
    condition     = var.data_plane_environment.REDIS_PREFIX == null ? true : can(regex("^[A-Za-z0-9:._-]{0,64}$", var.data_plane_environment.REDIS_PREFIX))
    error_message = "REDIS_PREFIX does not fit: it is begins every key in Redis, so that several installations can use one."
  }
}

variable "control_plane_environment" {
  description = "Other variables of the control plane."
  type = object({
    # the application behind /payment; empty = the bundled demo payment service; sites in the settings win
    UPSTREAM_PAYMENT = optional(string)
    # local settings file that a new control plane begins with; `up` sets it to the one in GATEHOUSE_DATA
    SETTINGS_IMPORT = optional(string)
    # seconds that the replica may be behind; further behind, and while it is away, the primary answers
    DATABASE_READ_LAG = optional(string)
    # age public key (age1…) that `gatehouse backup` seals secrets for; `gatehouse backup key` makes a pair and sets it; empty = a backup asks for --recipient or --passphrase-file
    BACKUP_RECIPIENT = optional(string)
    # where backups go: a directory, or a bucket of an S3 store (s3://bucket/folder); empty = backups in GATEHOUSE_DATA
    BACKUP_TO = optional(string)
    # address of the S3 store, such as https://minio.example.org; empty = AWS in BACKUP_S3_REGION
    BACKUP_S3_ENDPOINT = optional(string)
    # region of the S3 store; many stores of your own take any
    BACKUP_S3_REGION = optional(string)
    # key of the S3 store that may put, get, list and delete there
    BACKUP_S3_ACCESS_KEY_ID = optional(string)
    # ACL user of the sentinels themselves; empty = their default user
    REDIS_SENTINEL_USERNAME = optional(string)
    # certificate of the authority (PEM) that certificates of Redis are checked with; empty = well-known ones
    REDIS_TLS_CA_FILE = optional(string)
    # client certificate (PEM) for a Redis that asks for one; empty = none
    REDIS_TLS_CERT_FILE = optional(string)
    # private key (PEM) of REDIS_TLS_CERT_FILE; empty = none
    REDIS_TLS_KEY_FILE = optional(string)
    # name that certificates of Redis must have; empty = the name or address connected to
    REDIS_TLS_SERVER_NAME = optional(string)
    # begins every key in Redis, so that several installations can use one; empty = derived from AUTH_SESSION_SECRET, and on nodes from GATEHOUSE_ADMIN_TOKEN
    REDIS_PREFIX = optional(string)
    # name in the console, in the API explorer and in authenticator apps
    APP_BRAND = optional(string)
    # 1 = everyone who reaches the console may try attacks at /demo, in a sandbox without a login; 0 = off
    PUBLIC_DEMO = optional(string)
    # host name under which the console and the API are reached over HTTPS, through the data plane; its certificate is ordered by itself; empty = none
    DASHBOARD_DOMAIN = optional(string)
    # where the data plane finds the console for DASHBOARD_DOMAIN; empty = the console on this machine (ADMIN_BIND, UI_PORT)
    DASHBOARD_UPSTREAM = optional(string)
    # contact of the accounts at certificate authorities; empty = ADMIN_EMAIL
    ACME_EMAIL = optional(string)
    # ACME directories (RFC 8555) as name=address, separated by commas; the first is asked first, the next after three failures in a row
    ACME_DIRECTORIES = optional(string)
    # directory at which new sets of names are tried first (setting acme_staging_first); none = nowhere
    ACME_STAGING_DIRECTORY = optional(string)
    # certificates (PEM) by which directories of your own are believed, beside those of the system
    ACME_CA_FILE = optional(string)
    # program for dns-01, called as PROGRAM present|cleanup _acme-challenge.NAME VALUE; it returns when the record can be seen; empty = no dns-01
    ACME_DNS_HOOK = optional(string)
    # addresses whose X-Forwarded-For the control plane believes: those of a proxy in front of it, such as 127.0.0.1; empty = none, each connection counts as its own address
    API_TRUSTED_PROXIES = optional(string)
    # private addresses, networks or names that outgoing calls of the control plane may reach, separated by commas
    OUTBOUND_ALLOW = optional(string)
    # path of the Chromium that active scans open pages with scripts in; empty = the one on the path, none = no browser (docs/active-scans.md)
    CHROMIUM = optional(string)
    # range service for breached passwords (only five characters of a hash are sent)
    BREACHED_PASSWORDS_URL = optional(string)
    # list of exit nodes of the Tor network
    TOR_EXITS_URL = optional(string)
    # MMDB file by which security events get the country of their client; empty = none (docs/events.md)
    MMDB_COUNTRY_FILE = optional(string)
    # the same for its network (autonomous system)
    MMDB_NETWORK_FILE = optional(string)
    # of the control plane: fatal, error, warn, info, debug, trace or silent
    LOG_LEVEL = optional(string)
  })
  default  = {}
  nullable = false

  validation {
    condition     = var.control_plane_environment.UPSTREAM_PAYMENT == null ? true : can(regex("^(https?://.*)?$", var.control_plane_environment.UPSTREAM_PAYMENT))
    error_message = "UPSTREAM_PAYMENT does not fit: it is the application behind /payment."
  }

  validation {
    condition     = var.control_plane_environment.DATABASE_READ_LAG == null ? true : can(regex("^[1-9][0-9]{0,2}$", var.control_plane_environment.DATABASE_READ_LAG))
    error_message = "DATABASE_READ_LAG does not fit: it is seconds that the replica may be behind."
  }

  validation {
    condition     = var.control_plane_environment.BACKUP_S3_ENDPOINT == null ? true : can(regex("^(https?://.*)?$", var.control_plane_environment.BACKUP_S3_ENDPOINT))
    error_message = "BACKUP_S3_ENDPOINT does not fit: it is address of the S3 store, such as https."
  }

  validation {
    condition     = var.control_plane_environment.REDIS_PREFIX == null ? true : can(regex("^[A-Za-z0-9:._-]{0,64}$", var.control_plane_environment.REDIS_PREFIX))
    error_message = "REDIS_PREFIX does not fit: it is begins every key in Redis, so that several installations can use one."
  }

  validation {
    condition     = var.control_plane_environment.PUBLIC_DEMO == null ? true : contains(["", "0", "1"], var.control_plane_environment.PUBLIC_DEMO)
    error_message = "PUBLIC_DEMO must be one of 0, 1."
  }

  validation {
    condition     = var.control_plane_environment.DASHBOARD_UPSTREAM == null ? true : can(regex("^(https?://.*)?$", var.control_plane_environment.DASHBOARD_UPSTREAM))
    error_message = "DASHBOARD_UPSTREAM does not fit: it is where the data plane finds the console for DASHBOARD_DOMAIN."
  }

  validation {
    condition     = var.control_plane_environment.BREACHED_PASSWORDS_URL == null ? true : can(regex("^(https?://.*)?$", var.control_plane_environment.BREACHED_PASSWORDS_URL))
    error_message = "BREACHED_PASSWORDS_URL does not fit: it is range service for breached passwords."
  }

  validation {
    condition     = var.control_plane_environment.TOR_EXITS_URL == null ? true : can(regex("^(https?://.*)?$", var.control_plane_environment.TOR_EXITS_URL))
    error_message = "TOR_EXITS_URL does not fit: it is list of exit nodes of the Tor network."
  }

  validation {
    condition     = var.control_plane_environment.LOG_LEVEL == null ? true : contains(["fatal", "error", "warn", "info", "debug", "trace", "silent"], var.control_plane_environment.LOG_LEVEL)
    error_message = "LOG_LEVEL must be one of fatal, error, warn, info, debug, trace, silent."
  }
}

variable "console_environment" {
  description = "Other variables of the console."
  type = object({
    # name in the console, in the API explorer and in authenticator apps
    APP_BRAND = optional(string)
    # second word of the brand in the console
    APP_BRAND_SUB = optional(string)
    # line below the name on the login page of the console
    APP_TAGLINE = optional(string)
    # logo of the console and its icon: an SVG or PNG of 256 KiB at most; empty = the built-in one
    APP_LOGO = optional(string)
    # colour of buttons, links and marks in the console, such as #3f51b5; empty = the built-in one
    APP_ACCENT = optional(string)
    # host name under which the console and the API are reached over HTTPS, through the data plane; its certificate is ordered by itself; empty = none
    DASHBOARD_DOMAIN = optional(string)
  })
  default  = {}
  nullable = false
}
