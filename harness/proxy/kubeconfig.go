package proxy

import (
	"fmt"

	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
)

// Kubeconfig returns a kubeconfig file that leads to the proxy with that
// bearer token and default namespace.
func (p *Proxy) Kubeconfig(token, namespace string) ([]byte, error) {
	const name = "seatrial"
	c := clientcmdapi.NewConfig()
	c.Clusters[name] = &clientcmdapi.Cluster{Server: p.URL(), CertificateAuthorityData: p.authority}
	c.AuthInfos[name] = &clientcmdapi.AuthInfo{Token: token}
	c.Contexts[name] = &clientcmdapi.Context{Cluster: name, AuthInfo: name, Namespace: namespace}
	c.CurrentContext = name
	data, err := clientcmd.Write(*c)
	if err != nil {
		return nil, fmt.Errorf("writing a kubeconfig for the proxy: %w", err)
	}
	return data, nil
}
