# One host. Secrets come from the environment: TF_VAR_auth_session_secret and so on.

terraform {
  required_providers {
    docker = {
      source  = "kreuzwerker/docker"
      version = "~> 3.0"
    }
  }
}

provider "docker" {
  host = "ssh://gatehouse@edge-1.example.org"
}

variable "secrets" {
  description = "Secrets, of 32 characters or more."
  type        = map(string)
  sensitive   = true
}

module "gatehouse" {
  source = "../../modules/docker-host"

  gatehouse_version          = "0.1.0"
  image_registry             = "registry.example.org/mirror"
  upstream_customer          = "http://10.0.0.5:3000"
  auth_session_secret        = var.secrets["auth_session_secret"]
  settings_encryption_secret = var.secrets["settings_encryption_secret"]
  gatehouse_admin_token      = var.secrets["gatehouse_admin_token"]
  console_token              = var.secrets["console_token"]
  database_url               = var.secrets["database_url"]
}
