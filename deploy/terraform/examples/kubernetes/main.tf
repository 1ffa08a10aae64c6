# A cluster that kubectl reaches.

terraform {
  required_providers {
    helm = {
      source  = "hashicorp/helm"
      version = "~> 2.12"
    }
    kubernetes = {
      source  = "hashicorp/kubernetes"
      version = "~> 2.23"
    }
  }
}

provider "kubernetes" {
  config_path = "~/.kube/config"
}

provider "helm" {
  kubernetes {
    config_path = "~/.kube/config"
  }
}

module "gatehouse" {
  source = "../../modules/kubernetes"

  image_registry          = "registry.example.org/mirror"
  upstream                = "http://shop.default.svc:3000"
  redis_mode              = "external"
  control_plane_replicas  = 2
  data_plane_replicas_min = 3
  data_plane_replicas_max = 20

  control_plane_environment = {
    ACME_EMAIL = "operations@example.org"
  }

  values = [file("${path.module}/ingress.yaml")]
}
