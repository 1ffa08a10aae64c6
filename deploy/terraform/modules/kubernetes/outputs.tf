output "namespace" {
  description = "Namespace of the release."
  value       = helm_release.this.namespace
}

output "traffic_service" {
  description = "Service that protects."
  value       = "${helm_release.this.name}-data-plane"
}

output "initial_password" {
  description = "Password of the first login, where create_secret is true; to be changed then."
  value       = var.create_secret ? random_password.this["admin-initial-password"].result : null
  sensitive   = true
}
