package v1

// DefaultPasswordKey is the key of the password in its Secret where none is
// given.
const DefaultPasswordKey = "password"

// Auth is how clients authenticate.
//
// +kubebuilder:validation:XValidation:rule="(has(self.mode) && self.mode == 'Password') == has(self.password)",fieldPath=".password",message="password must be set where mode is 'Password', and may not be set otherwise"
type Auth struct {
	// mode is None, or Password for one password that all share.
	// +optional
	// +default="None"
	// +unionDiscriminator
	Mode AuthMode `json:"mode,omitempty"`

	// password names the password, where mode is Password.
	// +optional
	Password *PasswordAuth `json:"password,omitempty"`
}

// AuthMode is how clients authenticate.
// +kubebuilder:validation:Enum=None;Password
type AuthMode string

// How clients authenticate.
const (
	AuthNone     AuthMode = "None"
	AuthPassword AuthMode = "Password"
)

// PasswordAuth names a password.
type PasswordAuth struct {
	// secretRef is where the password is. A new password there is taken up
	// without a restart.
	// +required
	SecretRef SecretKeyReference `json:"secretRef,omitzero"`
}

// SecretKeyReference names one value of a Secret in the namespace of the
// RedisCluster.
type SecretKeyReference struct {
	// name is the Secret's name.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	Name string `json:"name,omitempty"`

	// key is the value's key.
	// +optional
	// +default="password"
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	Key string `json:"key,omitempty"`
}
